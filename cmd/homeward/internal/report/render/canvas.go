package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// canvas collects the picture's text. Lengths are in user units, which are pixels at
// the picture's own width. Colours are classes of the page's style.
type canvas struct{ text bytes.Buffer }

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.text, format+"\n", args...) }

// box draws a rectangle.
func (c *canvas) box(class string, x, y, width, height int) {
	c.printf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="7"/>`, class, x, y, width, height)
}

// line draws a straight one.
func (c *canvas) line(class string, x1, y1, x2, y2 int) {
	c.printf(`<path class="%s" d="M%d %d L%d %d"/>`, class, x1, y1, x2, y2)
}

// dot ends a line on a rail.
func (c *canvas) dot(class string, x, y int) {
	c.printf(`<circle class="%s" cx="%d" cy="%d" r="5"/>`, class, x, y)
}

// write puts text that starts at a point of its baseline, cut to a width.
func (c *canvas) write(class string, x, y, width int, text string) {
	wide := nameGlyph
	if strings.HasPrefix(class, "small") {
		wide = smallGlyph
	}
	c.printf(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, escape(cut(text, 10*width/wide)))
}

// tag writes on a filled ground that ends at x, and gives where it begins.
func (c *canvas) tag(class string, x, y int, text string) int {
	width := len([]rune(text))*glyph/10 + 14
	c.printf(`<rect class="tag %s" x="%d" y="%d" width="%d" height="20" rx="10"/>`, class, x-width, y, width)
	c.printf(`<text class="tagtext %s" text-anchor="middle" x="%d" y="%d">%s</text>`, class, x-width/2, y+14, escape(text))
	return x - width
}

// How wide a letter is taken to be, in tenths: in names, which are bold, in tags, and
// in small text. The letters of the widest of the fonts are about so on average.
const nameGlyph, glyph, smallGlyph = 86, 72, 68

// cut shortens a text to so many letters.
func cut(text string, letters int) string {
	runes := []rune(text)
	if len(runes) <= letters || letters < 2 {
		return text
	}
	return string(runes[:letters-1]) + "\u2026"
}

func escape(text string) string {
	var b bytes.Buffer
	// Into memory: it cannot fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
