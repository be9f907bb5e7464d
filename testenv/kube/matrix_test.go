//go:build linux

package kube

import (
	"net/netip"
	"testing"

	"homeward/testenv/netlab"
)

func TestCellSeesWhereRepliesLeave(t *testing.T) {
	client, address := netip.MustParseAddr("198.51.100.10"), netip.MustParseAddr("203.0.113.76")
	m := &Machine{Name: "here", Node: &netlab.Node{PrivateLink: "ens18", ExternalLink: "ens19"}}
	request := netlab.Packet{Link: "ens19", Protocol: netlab.TCP, Source: client, SourcePort: 40000, Destination: address, DestinationPort: 8000}
	reply := func(link string, source netip.Addr, port uint16) netlab.Packet {
		return netlab.Packet{Link: link, Leaving: true, Protocol: netlab.TCP, Source: source, SourcePort: 8000, Destination: client, DestinationPort: port}
	}
	tests := map[string]struct {
		packets   []netlab.Packet
		announcer string
		path      netlab.Path
	}{
		"nothing came":           {packets: []netlab.Packet{reply("ens19", address, 40000)}},
		"no reply":               {[]netlab.Packet{request}, "here", netlab.PathNone},
		"home":                   {[]netlab.Packet{request, reply("ens19", address, 40000)}, "here", netlab.PathExternal},
		"astray":                 {[]netlab.Packet{request, reply("ens18", address, 40000)}, "here", netlab.PathPrivate},
		"both ways":              {[]netlab.Packet{reply("ens18", address, 40000), request, reply("ens19", address, 40000)}, "here", netlab.PathBoth},
		"another source":         {[]netlab.Packet{request, reply("ens19", client, 40000)}, "here", netlab.PathWrongSource},
		"another connection's":   {[]netlab.Packet{request, reply("ens18", address, 40001)}, "here", netlab.PathNone},
		"a request on its way":   {[]netlab.Packet{{Link: "ens18", Protocol: netlab.TCP, Source: client, Destination: address, DestinationPort: 8000}}, "", ""},
		"another port's request": {[]netlab.Packet{{Link: "ens19", Protocol: netlab.TCP, Source: client, Destination: address, DestinationPort: 8001}}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Cell{Protocol: netlab.TCP, Service: Service{Address: address, Port: 8000}}
			c.see(m, client, test.packets)
			if c.Announcer != test.announcer || c.Path != test.path {
				t.Errorf("announcer %q, path %q; want %q, %q", c.Announcer, c.Path, test.announcer, test.path)
			}
		})
	}
}
