package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"homeward/agent/ledger"
)

// QuotaError says that a project may not have what a plan needs. It is a refusal.
type QuotaError struct {
	// Lacking has a line for each kind, as far as it is known.
	Lacking []string
	err     error
}

// Error names each quota with what is needed, used and allowed.
func (e *QuotaError) Error() string {
	text := "the project's quota does not do"
	if len(e.Lacking) > 0 {
		text += ": " + strings.Join(e.Lacking, "; ")
	}
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text + ": have an administrator raise it (openstack quota set), or delete what is not needed (openstack quota show --usage lists it)"
}

// Unwrap gives ledger.ErrRefused, and what the server said where it was asked to make
// something.
func (e *QuotaError) Unwrap() []error {
	if e.err == nil {
		return []error{ledger.ErrRefused}
	}
	return []error{ledger.ErrRefused, e.err}
}

// room refuses steps that the project's quota does not allow, before the first of
// them, so that nothing half is made. A server that does not say its quotas is asked
// by making.
func (r *run) room(ctx context.Context, h *Holding, steps []Step) error {
	if r.asked || !slices.ContainsFunc(steps, func(s Step) bool { return s.effect == makes }) {
		return nil
	}
	r.asked = true
	quota, err := r.API.Quota(ctx, h.Project)
	switch {
	case errors.Is(err, ledger.ErrRefused), errors.Is(err, ledger.ErrGone):
		r.Log.Debug("the cloud does not say what the project may have: " + err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("reading the project's quota: %w", err)
	}
	if lacking := lacks(quota, steps); len(lacking) > 0 {
		return &QuotaError{Lacking: lacking}
	}
	return nil
}

// ownRules is how many rules Neutron gives a new group, and counts.
const ownRules = 2

// lacks says of which kinds the steps need more than a project may have.
func lacks(quota Quota, steps []Step) []string {
	needed := map[Kind]int{}
	for _, s := range steps {
		if s.effect == makes {
			needed[s.kind] += s.count
		}
		if s.effect == makes && s.kind == KindGroup {
			needed[KindRule] += ownRules
		}
	}
	var list []string
	for _, kind := range []Kind{KindNetwork, KindSubnet, KindRouter, KindGroup, KindRule, KindPort, KindFloating} {
		room, limited := quota[kind]
		if free := max(room.Limit-room.Used, 0); limited && needed[kind] > free {
			list = append(list, fmt.Sprintf("%ss: %d more needed, %d of %d free", kind, needed[kind], free, room.Limit))
		}
	}
	return list
}

// explained adds to a refusal over a quota what is free of it now.
func (r *run) explained(ctx context.Context, err error, h *Holding, steps []Step) error {
	var refused *Error
	if !errors.As(err, &refused) || refused.Type != typeOverQuota {
		return err
	}
	quota, qerr := r.API.Quota(ctx, h.Project)
	if qerr != nil {
		return &QuotaError{err: err}
	}
	return &QuotaError{Lacking: lacks(quota, steps), err: err}
}

// quotaNames are the kinds as Neutron's quotas call them.
var quotaNames = map[string]Kind{
	"network": KindNetwork, "subnet": KindSubnet, "router": KindRouter, "security_group": KindGroup, "security_group_rule": KindRule,
	"port": KindPort, "floatingip": KindFloating,
}

// Quota implements API.
func (c *Client) Quota(ctx context.Context, project string) (Quota, error) {
	r := Request{Method: http.MethodGet, Path: "quotas/" + url.PathEscape(project) + "/details.json"}
	var answer struct {
		Quota map[string]struct{ Limit, Used, Reserved int }
	}
	if err := c.do(ctx, r, call{out: &answer, idempotent: true}); err != nil {
		return nil, err
	}
	q := Quota{}
	for name, kind := range quotaNames {
		if room, ok := answer.Quota[name]; ok && room.Limit >= 0 {
			q[kind] = Room{room.Limit, room.Used + room.Reserved}
		}
	}
	return q, nil
}
