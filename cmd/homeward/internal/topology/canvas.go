//go:build linux

package topology

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// canvas collects the SVG's text. Lengths are in user units, which are pixels at
// the drawing's own width.
type canvas struct{ text bytes.Buffer }

// The colours are classes, so that a viewer who prefers dark gets the second set.
const style = `<style>
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; fill: #1f2328 }
.title { font-size: 18px; font-weight: 600 }
.name { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.page { fill: #ffffff }
.panel { fill: #f6f8fa; stroke: #d0d7de }
.box { fill: #ffffff; stroke: #8c959f; stroke-width: 1.5 }
.chip { fill: #f6f8fa; stroke: #d0d7de }
.wire { stroke: #afb8c1; stroke-width: 2; fill: none }
.bus { stroke: #afb8c1; stroke-width: 7; stroke-linecap: round }
.request { stroke: #0969da; stroke-width: 3.5; fill: none }
.reply { stroke: #d4760a; stroke-width: 3.5; fill: none }
.head.request { fill: #0969da; stroke: none }
.head.reply { fill: #d4760a; stroke: none }
.good { stroke: #1a7f37 }
.bad { stroke: #cf222e }
.mark { stroke-width: 2.5; stroke-linecap: round; fill: none }
.cross { stroke-width: 5 }
text.good { fill: #1a7f37; stroke: none }
text.bad { fill: #cf222e; stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.small { fill: #9da7b3 }
.page { fill: #0d1117 }
.panel { fill: #161b22; stroke: #3d444d }
.box { fill: #0d1117; stroke: #656c76 }
.chip { fill: #161b22; stroke: #3d444d }
.wire, .bus { stroke: #565e68 }
.request { stroke: #58a6ff }
.reply { stroke: #f0a13e }
.head.request { fill: #58a6ff }
.head.reply { fill: #f0a13e }
.good { stroke: #3fb950 }
.bad { stroke: #ff6a62 }
text.good { fill: #3fb950 }
text.bad { fill: #ff6a62 }
}
</style>
`

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.text, format+"\n", args...) }

func (c *canvas) open(width, height int, description string) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d">`, width, height, width, height)
	c.printf(`<title>Where replies go</title>`)
	c.printf(`<desc>%s</desc>`, escape(description))
	c.text.WriteString(style)
	c.printf(`<rect class="page" width="%d" height="%d" rx="10"/>`, width, height)
}

func (c *canvas) close() { c.printf(`</svg>`) }

// group draws with its own origin.
func (c *canvas) group(x, y int, draw func()) {
	c.printf(`<g transform="translate(%d %d)">`, x, y)
	draw()
	c.printf(`</g>`)
}

func (c *canvas) box(class string, x, y, width, height int) {
	c.printf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, class, x, y, width, height)
}

// write puts text whose baseline begins at a point; anchor is start, middle or
// end.
func (c *canvas) write(class, anchor string, x, y int, text string) {
	c.printf(`<text class="%s" text-anchor="%s" x="%d" y="%d">%s</text>`, class, anchor, x, y, escape(text))
}

// path takes SVG path commands.
func (c *canvas) path(class, commands string) { c.printf(`<path class="%s" d="%s"/>`, class, commands) }

// The arrow heads, with the point at x, y.
func (c *canvas) headUp(class string, x, y int) {
	c.path("head "+class, fmt.Sprintf("M%d %d l-7 12 h14 z", x, y))
}

func (c *canvas) headRight(class string, x, y int) {
	c.path("head "+class, fmt.Sprintf("M%d %d l-12 -7 v14 z", x, y))
}

// tick and cross are drawn, since not every font has the signs.
func (c *canvas) tick(x, y int) { c.path("mark good", fmt.Sprintf("M%d %d l4 4 l7 -9", x-5, y)) }

func (c *canvas) cross(class string, x, y, size int) {
	c.path("mark bad"+class, fmt.Sprintf("M%d %d l%d %d m0 -%d l-%d %d", x-size, y-size, 2*size, 2*size, 2*size, 2*size, 2*size))
}

// verdict draws a tick when nothing is missing, and else a small cross.
func (c *canvas) verdict(t tally, x, y int) {
	if t.home == t.asked {
		c.tick(x, y)
		return
	}
	c.cross("", x, y, 4)
}

func escape(text string) string {
	var b bytes.Buffer
	// Into memory: it cannot fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
