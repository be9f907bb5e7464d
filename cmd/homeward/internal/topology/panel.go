//go:build linux

package topology

import (
	"fmt"

	"homeward/testenv/netlab"
)

// Where things stand in a panel, from its own corner. The client's side is above
// the nodes and the private side below, so that up is home and down is lost.
const (
	margin      = 12
	panelWidth  = 432
	panelHeight = 544
	height      = margin + panelHeight + 46

	left, right = 18, 414
	// The left column's boxes hold the two lanes and then their text.
	columnWidth = 236
	textX       = 112
	boxHeight   = 46
	// The right column.
	sideX, sideWidth = 274, 140

	clientY   = 76
	routerY   = 158
	externalY = 240
	nodeY     = 282
	nodeH     = 124
	privateY  = 450
	gatewayY  = 484

	laneReply, laneRequest = 38, 90
	chipX                  = textX + 10
	chipY, chipH, chipStep = 314, 30, 38
	requestY, replyY       = 329, 367
)

func (c *canvas) panel(p Panel, a netlab.Addresses) {
	c.box("panel", 0, 0, panelWidth, panelHeight)
	all := count(p.Cells, func(netlab.Cell) bool { return true })
	c.write("title", "start", left, 34, p.Title)
	c.write(all.class(), "start", left, 56, all.of("requests answered"))
	c.wires()
	c.networks(a)
	c.clients(p, a)
	c.leftBox(routerY, "external router", a.ExternalGateway.String())
	c.leftBox(gatewayY, "private gateway", a.PrivateGateway.String())
	c.node(left, columnWidth, chipX, "node1", count(p.Cells, byBackend(netlab.PodHere)), count(p.Cells, byBackend(netlab.HostHere)))
	c.node(sideX, sideWidth, sideX+8, "node2", count(p.Cells, byBackend(netlab.PodThere)), count(p.Cells, byBackend(netlab.HostThere)))
	c.write("small", "start", chipX+50, nodeY+22, "announces")
	c.bracket()
	c.lanes(waysOf(p.Cells))
}

// wires connects boxes and networks.
func (c *canvas) wires() {
	lane, side := (laneReply+laneRequest)/2, sideX+sideWidth/2
	c.path("wire", fmt.Sprintf("M%d %d V%d M%d %d V%d", lane, clientY, nodeY, lane, nodeY, gatewayY))
	c.path("wire", fmt.Sprintf("M%d %d V%d M%d %d V%d", side, routerY, nodeY, side, nodeY, privateY))
}

func (c *canvas) networks(a netlab.Addresses) {
	for y, name := range []string{"external network " + a.External.String(), "private network " + a.Private.String()} {
		at := []int{externalY, privateY}[y]
		c.path("bus", fmt.Sprintf("M%d %d H%d", left, at, right))
		c.write("small", "start", textX, at+20, name)
	}
}

func (c *canvas) clients(p Panel, a netlab.Addresses) {
	c.leftBox(clientY, "client", a.Behind.String())
	behind := count(p.Cells, byClient(netlab.ClientBehind))
	c.write(behind.class(), "start", sideX, clientY+20, behind.of("replies"))
	c.write(behind.class(), "start", sideX, clientY+38, "reach the client")

	onLink := count(p.Cells, byClient(netlab.ClientOnLink))
	c.box("box", sideX, routerY, sideWidth, boxHeight)
	c.write("name", "start", sideX+8, routerY+20, "on-link client")
	c.write("small", "start", sideX+8, routerY+37, a.OnLink.String())
	c.verdict(onLink, sideX+sideWidth-14, routerY+33)
}

func (c *canvas) leftBox(y int, name, address string) {
	c.box("box", left, y, columnWidth, boxHeight)
	c.write("name", "start", textX, y+20, name)
	c.write("small", "start", textX, y+37, address)
}

// node draws a node with its two backends and two NICs.
func (c *canvas) node(x, width, text int, name string, pod, host tally) {
	c.box("box", x, nodeY, width, nodeH)
	c.write("name", "start", text, nodeY+22, name)
	for i, backend := range []tally{pod, host} {
		y := chipY + i*chipStep
		c.box("chip", text, y, x+width-8-text, chipH)
		c.write("", "start", text+8, y+20, []string{"pod", "host network"}[i])
		c.verdict(backend, x+width-22, y+chipH/2)
	}
	nic := (laneReply + laneRequest) / 2
	if x != left {
		nic = x + width/2
	}
	c.nic(nic, nodeY, "ens19")
	c.nic(nic, nodeY+nodeH, "ens18")
}

// bracket holds the announcing node's backends together: the lanes are those of
// all of them, here and on the other node.
func (c *canvas) bracket() {
	c.path("wire", fmt.Sprintf("M%d %d H%d V%d H%d", chipX-3, chipY, textX, chipY+chipStep+chipH, chipX-3))
}

func (c *canvas) nic(x, y int, name string) {
	c.box("chip", x-36, y-10, 72, 20)
	c.write("small", "middle", x, y+4, name)
}

// lanes draws the request and where its replies went.
func (c *canvas) lanes(w ways) {
	const curve = 10
	start := clientY + boxHeight/2
	c.path("request", fmt.Sprintf("M%d %d V%d q0 %d %d %d H%d", laneRequest, start, requestY-curve, curve, curve, curve, textX-12))
	c.headRight("request", textX-2, requestY)
	if w.home > 0 {
		c.path("reply", fmt.Sprintf("M%d %d H%d q-%d 0 -%d -%d V%d", textX, replyY, laneReply+curve, curve, curve, curve, start+10))
		c.headUp("reply", laneReply, start-1)
	}
	if w.private > 0 {
		end := gatewayY + boxHeight/2
		c.path("reply", fmt.Sprintf("M%d %d H%d q-%d 0 -%d %d V%d", textX, replyY, laneReply+curve, curve, curve, curve, end))
		c.cross(" cross", laneReply, end, 9)
		c.write("bad", "start", sideX, gatewayY+20, fmt.Sprintf("%d replies dropped:", w.private))
		c.write("bad", "start", sideX, gatewayY+38, "spoofed source")
	}
	if w.stuck > 0 {
		c.path("reply", fmt.Sprintf("M%d %d H%d", textX, replyY, laneRequest-10))
		c.cross(" cross", laneRequest-14, replyY, 9)
	}
}

func (c *canvas) legend(middle int) {
	y := margin + panelHeight + 22
	c.path("request", fmt.Sprintf("M%d %d h30", middle-190, y))
	c.write("", "start", middle-152, y+5, "request")
	c.path("reply", fmt.Sprintf("M%d %d h30", middle-70, y))
	c.write("", "start", middle-32, y+5, "reply")
	c.cross(" cross", middle+52, y, 7)
	c.write("", "start", middle+70, y+5, "reply dropped")
}
