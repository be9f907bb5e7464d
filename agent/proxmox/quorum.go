package proxmox

import (
	"context"
	"errors"
	"fmt"
)

// Quorate says whether the cluster can write. Without quorum a node still answers
// reads, from what it last knew. A node that is in no cluster always can. Where the
// server does not tell (it takes Sys.Audit on /) it is taken to: its answer to a write
// decides then.
func Quorate(ctx context.Context, api API) (bool, error) {
	var parts []struct {
		Type    string `json:"type"`
		Quorate Flag   `json:"quorate"`
	}
	err := api.Get(ctx, Path("cluster", "status"), nil, &parts)
	var answer *Error
	switch {
	case errors.As(err, &answer) && answer.Status != 0:
		return true, nil
	case err != nil:
		return false, fmt.Errorf("asking whether the cluster has quorum: %w", err)
	}
	for _, p := range parts {
		if p.Type == "cluster" {
			return bool(p.Quorate), nil
		}
	}
	return true, nil
}
