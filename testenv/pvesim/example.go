package pvesim

import "errors"

// ExampleState is a fresh state with one of each thing that a script may want to
// find: guests of both kinds on VLAN 1691 of vmbr0 and on a VNet, an alias, a pool,
// an address in SDN's IPAM, and tokens that may do less than all.
func ExampleState() (*State, error) {
	st := NewState()
	st.AddPool("team", "guests of the team")
	st.AddZone("lab", map[string]string{"type": "vlan", "bridge": "vmbr1", "ipam": "pve", "dhcp": "dnsmasq"})
	st.AddVNet("apps", "lab", 30)
	st.AddAlias(ClusterScope, "printer", "203.0.113.65", "in the hall")
	errs := []error{
		st.AddSubnet("apps", "192.0.2.0/24", "192.0.2.1", "192.0.2.100-192.0.2.199"),
		st.AddIP("lab", "192.0.2.0/24", "192.0.2.100", "BC:24:11:00:01:03", "db", 103),
	}
	for _, g := range []Guest{
		{Kind: QEMU, VMID: 101, Node: "pve1", Running: true, Agent: true, Pool: "team",
			Config: map[string]string{"name": "web", "agent": "1", "net0": "virtio=BC:24:11:00:01:01,bridge=vmbr0,tag=1691,firewall=1", "ipconfig0": "ip=203.0.113.60/25,gw=203.0.113.1"},
			Live:   []LiveInterface{{Name: "eth0", MAC: "BC:24:11:00:01:01", Addresses: []string{"203.0.113.60/25", "203.0.113.62/25"}}}},
		{Kind: LXC, VMID: 102, Node: "pve2", Running: true,
			Config: map[string]string{"hostname": "dns", "unprivileged": "1", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:01:02,ip=203.0.113.61/25,tag=1691"},
			Live:   []LiveInterface{{Name: "eth0", MAC: "BC:24:11:00:01:02", Addresses: []string{"203.0.113.61/25"}}}},
		{Kind: QEMU, VMID: 103, Node: "pve3", Config: map[string]string{"name": "db", "net0": "virtio=BC:24:11:00:01:03,bridge=apps"}},
	} {
		errs = append(errs, st.AddGuest(g))
	}
	reads := []Grant{
		{Path: "/", Privileges: []string{"Sys.Audit"}},
		{Path: "/vms", Privileges: []string{"VM.Audit", "VM.GuestAgent.Audit"}, Propagate: true},
		{Path: "/sdn/zones", Privileges: []string{"SDN.Audit"}, Propagate: true},
		{Path: "/pool", Privileges: []string{"Pool.Audit"}, Propagate: true},
	}
	writes := append([]Grant{{Path: "/", Privileges: []string{"Sys.Audit", "Sys.Modify"}}}, reads[1:]...)
	return st, errors.Join(append(errs,
		st.AddToken(Token{ID: "homeward@pve!status", Secret: "0d1f7a52-5b7e-4c0e-9d35-c0ffee000002", Grants: reads}),
		st.AddToken(Token{ID: "homeward@pve!reserve", Secret: "0d1f7a52-5b7e-4c0e-9d35-c0ffee000003", Grants: writes}),
	)...)
}

// Token gives a token's secret; false when there is no such token.
func (st *State) Token(id string) (secret string, ok bool) {
	t, ok := st.tokens.get(id)
	if !ok {
		return "", false
	}
	return t.Secret, true
}
