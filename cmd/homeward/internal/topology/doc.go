//go:build linux

// Package topology draws the lab's cluster as an SVG: for each panel the networks,
// gateways, nodes and clients, the path of a request, and the path of its reply as
// it was measured on the wire, with a cross where replies are dropped.
//
// The drawing is one file without scripts, images or fonts of its own. It brings
// its own background, light or dark as the viewer prefers, so that its text is
// legible on any page. Equal input gives equal bytes.
package topology

import (
	"io"

	"homeward/testenv/netlab"
)

// Drawing is what to draw.
type Drawing struct {
	Addresses netlab.Addresses
	// Panels stand side by side, left to right.
	Panels []Panel
}

// Panel is one measured matrix.
type Panel struct {
	Title string
	Cells []netlab.Cell
}

// Write writes the SVG. The error is the writer's.
func (d Drawing) Write(w io.Writer) error {
	width := margin + len(d.Panels)*(panelWidth+margin)
	c := &canvas{}
	c.open(width, height, d.describe())
	for i, p := range d.Panels {
		c.group(margin+i*(panelWidth+margin), margin, func() { c.panel(p, d.Addresses) })
	}
	c.legend(width / 2)
	c.close()
	_, err := w.Write(c.text.Bytes())
	return err
}

// describe tells the drawing to those who cannot see it.
func (d Drawing) describe() string {
	text := "The path of a request to an ingress address, and of its reply."
	for _, p := range d.Panels {
		all := count(p.Cells, func(netlab.Cell) bool { return true })
		text += " " + p.Title + ": " + all.of("requests answered") + "."
	}
	return text
}
