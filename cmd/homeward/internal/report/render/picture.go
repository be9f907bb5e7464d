package render

import (
	"fmt"
	"strings"

	"homeward/cmd/homeward/internal/report"
)

// frame is how a picture is laid out: for a wide page, or for a phone.
type frame struct {
	// width of the whole, columns of machines in a host, and the heights of a machine and
	// of a network.
	width, columns, chip, top int
}

var (
	wideFrame   = frame{1040, 3, 52, 84}
	narrowFrame = frame{344, 1, 52, 110}
)

const (
	rail     = 14 // from the edge to a network's rail
	hostLeft = 42 // from the edge to the hosts
	gap      = 14
	headRow  = 34
	tagRow   = 26
	linkRow  = 18 // from the top of a host to its links
	// More than these are counted instead of drawn.
	mostHosts    = 40
	mostMachines = 30
)

// picture draws the failure domains: the two networks as rails with their gateways,
// and between them the hosts with their machines.
func picture(r report.Report, f frame, class string) string {
	c := &canvas{}
	y := f.top + 2*gap
	last := f.top
	var links []func()
	hosts := append([]report.Host{}, r.Hosts[:min(len(r.Hosts), mostHosts)]...)
	for _, h := range hosts {
		last = y + linkRow
		y = c.host(f, y, h, single(r, report.FailHost, h.Name), false, &links) + gap
	}
	if len(r.Unplaced) > 0 {
		last = y + linkRow
		y = c.host(f, y, report.Host{Name: "host unknown", Machines: r.Unplaced}, false, true, &links) + gap
	}
	if more := len(r.Hosts) - len(hosts); more > 0 {
		c.write("small", hostLeft, y+16, f.width, fmt.Sprintf("and %d more hosts", more))
		y += 30
	}
	body := c.text.String()
	c.text.Reset()
	height := y + 8
	c.printf(`<svg class="%s" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" viewBox="0 0 %d %d">`, class, escape(describe(r)), f.width, height)
	if r.Network.External != nil {
		c.line("rail external", rail, f.top, rail, last)
	}
	c.line("rail private", f.width-rail, f.top, f.width-rail, last)
	for _, draw := range links {
		draw()
	}
	c.networks(f, r)
	c.text.WriteString(body)
	c.printf(`</svg>`)
	return c.text.String()
}

// describe tells the picture to those who cannot see it.
func describe(r report.Report) string {
	text := fmt.Sprintf("Failure domains of %s: ", r.Cluster)
	for _, h := range r.Hosts {
		text += fmt.Sprintf("%s with %s; ", h.Name, names(h.Machines))
	}
	if len(r.Unplaced) > 0 {
		text += fmt.Sprintf("host unknown: %s; ", names(r.Unplaced))
	}
	return text + fmt.Sprintf("%d single points.", len(r.SinglePoints))
}

// single says that something is a single point that takes traffic.
func single(r report.Report, kind report.Kind, name string) bool {
	for _, p := range r.SinglePoints {
		if p.Kind == kind && len(p.Takes) > 0 && (name == "" || p.Name == name) {
			return true
		}
	}
	return false
}

// networks draws both at the top, each with its gateway.
func (c *canvas) networks(f frame, r report.Report) {
	width := (f.width - gap) / 2
	if e := r.Network.External; e != nil {
		c.network(f, 0, width, "external", "external network", *e, single(r, report.FailSegment, ""))
	}
	c.network(f, f.width-width, width, "private", "private network", r.Network.Private, single(r, report.FailPrivateSegment, ""))
}

func (c *canvas) network(f frame, x, width int, class, name string, l report.Link, point bool) {
	c.box("net "+class, x+1, 1, width-2, f.top)
	right := x + width - 8
	switch {
	case point && f.columns == 1:
		c.tag("bad", right, f.top-28, "single point")
	case point:
		right = c.tag("bad", right, 9, "single point")
	}
	c.write("name", x+12, 24, right-x-12, name)
	segment := l.Segment
	if f.columns == 1 {
		segment = strings.TrimPrefix(segment, "bridge ")
	}
	c.write("small", x+12, 42, width-18, segment)
	c.write("small", x+12, 58, width-18, l.CIDR)
	c.write("small", x+12, 74, width-18, "gateway "+l.Gateway)
}

// host draws one with its machines, and gives where it ends. Its links to the rails
// are drawn by the caller, below everything else.
func (c *canvas) host(f frame, y int, h report.Host, point, unknown bool, links *[]func()) int {
	left, width := hostLeft, f.width-2*hostLeft
	shown := h.Machines[:min(len(h.Machines), mostMachines)]
	rows := (len(shown) + f.columns - 1) / f.columns
	tags := tagsOf(h, unknown)
	height := headRow + rows*(f.chip+8) + 6
	if f.columns == 1 {
		height += len(tags) * tagRow
	}
	if len(h.Machines) > len(shown) {
		height += 22
	}
	c.box("host"+map[bool]string{true: " bad"}[point]+map[bool]string{true: " unknown"}[unknown], left, y, width, height)
	right := left + width - 10
	at := y + 8
	for i, t := range tags {
		if f.columns == 1 {
			c.tag(t.class, right, y+headRow-4+i*tagRow, t.text)
			continue
		}
		right = c.tag(t.class, right, at, t.text) - 6
	}
	c.write("name title", left+12, y+23, right-left-16, h.Name)
	top := y + headRow
	if f.columns == 1 {
		top += len(tags) * tagRow
	}
	chip := (width - 20 - (f.columns-1)*8) / f.columns
	external := false
	for i, x := range h.Machines {
		external = external || x.External
		if i < len(shown) {
			c.machine(left+10+(i%f.columns)*(chip+8), top+(i/f.columns)*(f.chip+8), chip, f.chip, x)
		}
	}
	if more := len(h.Machines) - len(shown); more > 0 {
		c.write("small title", left+12, top+rows*(f.chip+8)+12, width, fmt.Sprintf("and %d more machines", more))
	}
	middle := y + linkRow
	*links = append(*links, func() {
		if external {
			c.line("rail external", rail, middle, left, middle)
			c.dot("external", rail, middle)
		}
		c.line("rail private", f.width-rail, middle, left+width, middle)
		c.dot("private", f.width-rail, middle)
	})
	return y + height
}

func (c *canvas) machine(x, y, width, height int, m report.Machine) {
	class := string(m.Role)
	c.box("chip "+class, x, y, width, height)
	c.write("name", x+14, y+21, width-20, m.Name)
	c.write("small", x+14, y+39, width-20, duties(m))
}

// duties says what a machine does that others would have to take over.
func duties(m report.Machine) string {
	var list []string
	if m.Role == "controlplane" {
		list = append(list, "etcd")
	}
	if m.HoldsVIP {
		list = append(list, "may hold VIP")
	}
	switch {
	case m.Announces && len(m.Addresses) > 0:
		list = append(list, "announces "+lastParts(m.Addresses))
	case m.Announces:
		list = append(list, "may announce")
	case m.Role != "controlplane":
		list = append(list, "announces nothing")
	}
	if !m.External {
		list = append(list, "private NIC only")
	}
	return strings.Join(list, ", ")
}

// lastParts shortens addresses of one network: ".75 .77".
func lastParts(addresses []string) string {
	const most = 4
	var list []string
	for _, a := range addresses[:min(len(addresses), most)] {
		list = append(list, a[strings.LastIndexByte(a, '.'):])
	}
	if more := len(addresses) - most; more > 0 {
		list = append(list, fmt.Sprintf("+%d", more))
	}
	return strings.Join(list, " ")
}
