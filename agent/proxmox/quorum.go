package proxmox

import (
	"context"
	"errors"
	"fmt"

	"homeward/agent/ledger"
)

// Quorate says whether the cluster can write. Without quorum a node still answers
// reads, from what it last knew. A node that is in no cluster always can; so does one
// whose state the token may not read (Sys.Audit on /), as far as is known here.
func Quorate(ctx context.Context, api API) (bool, error) {
	var parts []struct {
		Type    string `json:"type"`
		Quorate Flag   `json:"quorate"`
	}
	err := api.Get(ctx, Path("cluster", "status"), nil, &parts)
	if errors.Is(err, ledger.ErrRefused) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether the cluster has quorum: %w", err)
	}
	for _, p := range parts {
		if p.Type == "cluster" {
			return bool(p.Quorate), nil
		}
	}
	return true, nil
}
