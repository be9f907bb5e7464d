package main

import (
	"fmt"
	"io"
)

// progress shows on a terminal which step is under way, in one line that is gone
// at the end. Anywhere else it is silent.
type progress struct {
	out   io.Writer
	width int
}

const clearLine = "\r\x1b[K"

// barWidth is the length of a bar in characters.
const barWidth = 24

func newProgress(out io.Writer) progress {
	if width, ok := terminalWidth(out); ok {
		return progress{out, width}
	}
	return progress{io.Discard, 0}
}

func (p progress) step(text string) { fmt.Fprint(p.out, clearLine+text+" ...") }

// bar shows how far a step is. A total of zero is one that is not known.
func (p progress) bar(text string, done, total int) {
	if total <= 0 {
		p.step(text)
		return
	}
	filled := min(barWidth*done/total, barWidth)
	line := fmt.Sprintf("%s %d/%d", text, done, total)
	if len(line)+barWidth+3 < p.width {
		line = fmt.Sprintf("[%-*s] %s", barWidth, "########################"[:filled], line)
	}
	fmt.Fprint(p.out, clearLine+line)
}

func (p progress) end() { fmt.Fprint(p.out, clearLine) }
