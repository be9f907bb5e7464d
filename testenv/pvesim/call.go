package pvesim

import (
	"maps"
	"net/http"
	"strings"
)

// handler answers a call from its state, which a write may change: what it gives
// back is the answer's data.
type handler func(c *call) (any, error)

// call is one request with all that belongs to it.
type call struct {
	sim    *Sim
	node   string // whose endpoint was asked
	method *method
	path   string
	params map[string]string
	lists  map[string][]string
	token  *Token
	state  *State
}

// answer runs a request that has come in whole, and gives its data.
func (s *Sim) answer(c *call, refusal Refusal) (any, error) {
	if err := c.method.verify(c.params, c.lists); err != nil {
		return nil, err
	}
	write := c.method.Method != http.MethodGet
	s.mu.Lock()
	c.state = s.state
	if behind := s.behind[c.node]; behind != nil && !write {
		c.state = behind
	}
	if !write {
		defer s.mu.Unlock()
		if err := c.admit(); err != nil {
			return nil, err
		}
		return c.method.handle(c)
	}
	err := c.admit()
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.write(c, refusal)
}

// admit checks rights, and that the node which must answer can.
func (c *call) admit() error {
	if err := c.method.pass(c); err != nil {
		return err
	}
	if c.method.Proxy == "" {
		return nil
	}
	name := c.params[c.method.Proxy]
	n, ok := c.state.nodes.get(name)
	if !ok {
		return refuse("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	}
	if !n.Online && name != c.node {
		return &problem{status: statusNoRoute, message: "No route to host", bare: true}
	}
	return nil
}

// write runs a call under the lock of what it changes.
func (s *Sim) write(c *call, refusal Refusal) (any, error) {
	lock := c.lock()
	s.mu.Lock()
	quorate := s.state.quorate && refusal != RefuseNoQuorum
	s.mu.Unlock()
	if !quorate {
		s.sleep(s.options.Times.NoQuorum)
		if lock == "" {
			return nil, refuse("unable to open file '/etc/pve/%s.tmp' - Permission denied", c.file())
		}
		return nil, refuse("cfs-lock '%s' error: no quorum!", lock)
	}
	if refusal == RefuseLock {
		s.sleep(s.options.Times.GiveUp)
	}
	if refusal == RefuseLock || !s.locks.take(lock, s) {
		if lock == "" {
			return nil, refuse("can't lock file '/var/lock/%s' - got timeout", c.file())
		}
		return nil, refuse("cfs-lock '%s' error: got lock request timeout", lock)
	}
	defer s.locks.give(lock, s)
	s.sleep(s.options.Times.Write)
	s.saving.Lock()
	defer s.saving.Unlock()
	data, st, err := s.commit(c)
	if err == nil && s.options.Saved != nil {
		err = s.options.Saved(st)
	}
	return data, err
}

// commit runs the handler on a copy, and puts the copy in place when it succeeds.
func (s *Sim) commit(c *call) (data any, st *State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.state = s.state.Clone()
	if data, err = c.method.handle(c); err != nil {
		return nil, nil, err
	}
	s.state = c.state
	if s.behind[c.node] != nil {
		s.behind[c.node] = s.state.Clone()
	}
	if s.options.Saved != nil {
		st = s.state.Clone()
	}
	return data, st, nil
}

// lock names the cluster-wide lock of what a call changes; empty where the server
// only locks a file of its own.
func (c *call) lock() string {
	switch p := c.method.Path; {
	case strings.HasPrefix(p, "/cluster/firewall/"):
		return "firewall-cluster"
	case strings.HasSuffix(p, "/ips"):
		return "file-sdn_pve-ipam-state_json"
	case strings.HasPrefix(p, "/cluster/sdn"):
		return "domain-sdn"
	case strings.HasPrefix(p, "/pools"):
		return "file-user_cfg"
	case strings.Contains(p, "/{vmid}/firewall/"):
		return "firewall-" + c.params["vmid"]
	}
	return ""
}

// file is what a call without a cluster-wide lock writes.
func (c *call) file() string {
	if vmid := c.params["vmid"]; vmid != "" {
		return "nodes/" + c.params["node"] + "/" + c.kind().directory() + "/" + vmid + ".conf"
	}
	return "nodes/" + c.params["node"] + "/host.fw"
}

// shown are the parameters for a log: what could be a secret is not.
func (c *call) shown() map[string]string {
	p := maps.Clone(c.params)
	for name, values := range c.lists {
		p[name] = strings.Join(values, " ")
	}
	for name := range p {
		if strings.Contains(name, "password") || name == "sshkeys" {
			p[name] = "(not shown)"
		}
	}
	return p
}
