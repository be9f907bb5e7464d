package timeline

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"unicode/utf8"
)

// canvas collects the SVG's text.
type canvas struct{ text bytes.Buffer }

// The colours are classes, so that a viewer who prefers dark gets the second set.
// What is good or bad also differs in height, for those who do not see colours.
const style = `<style>
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; fill: #1f2328 }
.title { font-size: 18px; font-weight: 600 }
.name { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.page { fill: #ffffff }
.plot { fill: #f6f8fa }
.grid { stroke: #d8dee4; stroke-width: 1; fill: none }
.time { stroke: #0969da; fill: none }
.up { fill: #1a7f37 }
.down { fill: #cf222e }
.shade { fill: #cf222e; opacity: 0.14 }
.away { fill: #8c959f; opacity: 0.45 }
.over { stroke: #8250df; stroke-width: 1.75; stroke-dasharray: 5 3; fill: none }
.mark { fill: #8250df }
text.bad { fill: #cf222e; font-weight: 600 }
text.taken { fill: #8250df; font-size: 12px }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.small { fill: #9da7b3 }
.page { fill: #0d1117 }
.plot { fill: #161b22 }
.grid { stroke: #30363d }
.time { stroke: #58a6ff }
.up { fill: #3fb950 }
.down { fill: #ff6a62 }
.shade { fill: #ff6a62; opacity: 0.2 }
.away { fill: #7d8590; opacity: 0.5 }
.over { stroke: #bc8cff }
.mark { fill: #bc8cff }
text.bad { fill: #ff6a62 }
text.taken { fill: #bc8cff }
}
</style>
`

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.text, format+"\n", args...) }

func (c *canvas) open(width, height int, title, description string) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d">`, width, height, width, height)
	c.printf(`<title>%s</title>`, escape(title))
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

// box draws a rectangle that is wide enough to be seen.
func (c *canvas) box(class string, x, y, width, height float64) {
	const least = 1.5
	c.printf(`<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"/>`, class, x, y, max(width, least), height)
}

// write puts text whose baseline begins at a point; anchor is start, middle or
// end.
func (c *canvas) write(class, anchor string, x, y float64, text string) {
	c.printf(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, escape(text))
}

// path takes SVG path commands.
func (c *canvas) path(class, commands string) { c.printf(`<path class="%s" d="%s"/>`, class, commands) }

func escape(text string) string {
	var b bytes.Buffer
	// Into memory: it cannot fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// extent is about how wide a text of the usual size is.
func extent(text string) float64 {
	const perLetter = 7.3
	return perLetter * float64(utf8.RuneCountInString(text))
}

// row places texts on one line so that none covers another.
type row struct{ taken [][2]float64 }

// place gives where the middle of a text goes, near x and within the plot; ok is
// false where there is no room.
func (r *row) place(x float64, text string, left, right float64) (middle float64, ok bool) {
	half := extent(text)/2 + 3
	middle = min(max(x, left+half), right-half)
	for _, t := range r.taken {
		if middle-half < t[1] && middle+half > t[0] {
			return 0, false
		}
	}
	r.taken = append(r.taken, [2]float64{middle - half, middle + half})
	return middle, true
}
