package load

import (
	"net/netip"
	"slices"

	"homeward/netplan"
)

// security reads the allowlists in both forms: {HOST: CIDR} for the names whose
// port is known, and {port: N, hosts: {HOST: CIDR}} for any.
func (d *document) security() []netplan.AllowSpec {
	var list []netplan.AllowSpec
	for _, name := range d.names("security") {
		path := "security." + name
		port := optional[int](d, path+".port")
		d.securityForm(name, path, port)
		hosts := map[string][]netip.Prefix{}
		for _, at := range []string{path, path + ".hosts"} {
			for _, host := range d.names(at) {
				prefixes := get[[]netip.Prefix](d, at+"."+host)
				// A host that could not be read is still one that is allowed.
				if len(prefixes) > 0 || d.unread(at+"."+host) {
					hosts[host] = prefixes
				}
			}
		}
		if d.tainted[path+".hosts"] {
			hosts["hosts"] = nil // and so are those of a section that could not be read
		}
		list = append(list, netplan.AllowSpec{Name: name, Port: port, Hosts: hosts})
	}
	return list
}

// securityForm refuses a mixture of the two forms, and a name that was meant to
// be a known one.
func (d *document) securityForm(name, path string, port *int) {
	v := d.values[path]
	p := place{room: &room{key: v.key}, canonical: path, path: v.path, line: v.line}
	long := d.has(path+".port") || d.has(path+".hosts")
	if short := d.names(path); long && len(short) > 0 {
		host := d.values[path+"."+short[0]]
		p.canonical, p.path, p.line = path+"."+short[0], host.path, host.line
		d.fault(p, "unknown key beside port and hosts: give a host under hosts")
		return
	}
	if long || port != nil {
		return
	}
	known := []string{netplan.AllowKubernetes, netplan.AllowTalos, netplan.AllowHTTP, netplan.AllowHTTPS}
	near, ok := nearest(name, known, func(string) int { return slip })
	if ok && !slices.Contains(known, name) {
		d.fault(p, "unknown name without a port: did you mean %s?", near)
	}
}
