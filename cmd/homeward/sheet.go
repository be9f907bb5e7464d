package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// sheet is a text under way: a strings.Builder, or a page.
type sheet interface {
	io.Writer
	io.StringWriter
	io.ByteWriter
	Len() int
}

// page is a sheet whose tables have to fit a terminal.
type page struct {
	strings.Builder
	// columns is the terminal's width in characters; zero is no bound.
	columns int
}

// page gives an empty page for standard output.
func (t *tool) page() *page {
	columns, _ := terminalWidth(t.inherited.out)
	return &page{columns: columns}
}

// gap is how many spaces stand between two columns.
const gap = 2

// table writes rows, the first of which is the head, with aligned columns and without
// trailing spaces. On a page that is too narrow the cells are wrapped between words;
// where that is not enough the spare columns are left out, in their order, and named.
func table(b sheet, rows [][]string, spare ...int) {
	columns := 0
	if p, ok := b.(*page); ok {
		columns = p.columns
	}
	widths, fits := fit(rows, columns)
	var left []string
	for _, i := range slices.Sorted(slices.Values(spare[:needed(rows, columns, spare)])) {
		left = append(left, rows[0][i])
	}
	if len(left) > 0 {
		rows = without(rows, spare[:len(left)])
		widths, fits = fit(rows, columns)
	}
	if !fits {
		widths = natural(rows)
	}
	for _, row := range rows {
		writeRow(b, row, widths)
	}
	if len(left) > 0 {
		fmt.Fprintf(b, "(without %s, for which %d columns are too few; -o json has all)\n", strings.Join(left, ", "), columns)
	}
}

// needed is how many of the spare columns have to be left out; all that there are do
// not help where even that is too wide, and then none is.
func needed(rows [][]string, columns int, spare []int) int {
	for n := range len(spare) + 1 {
		if _, fits := fit(without(rows, spare[:n]), columns); fits {
			return n
		}
	}
	return 0
}

// without gives rows without some of their columns.
func without(rows [][]string, columns []int) [][]string {
	if len(columns) == 0 {
		return rows
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		for j, cell := range row {
			if !slices.Contains(columns, j) {
				out[i] = append(out[i], cell)
			}
		}
	}
	return out
}

// natural gives the width of each column when nothing is wrapped.
func natural(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// fit gives the width of each column so that all fit in so many characters, the widest
// narrowed first, and whether they do.
func fit(rows [][]string, columns int) (widths []int, fits bool) {
	widths = natural(rows)
	if columns <= 0 {
		return widths, true
	}
	least := make([]int, len(widths)) // no word is broken
	for _, row := range rows {
		for i, cell := range row {
			for word := range strings.FieldsSeq(cell) {
				least[i] = max(least[i], utf8.RuneCountInString(word))
			}
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > columns; total-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

// writeRow writes a row on as many lines as its longest cell needs.
func writeRow(b sheet, row []string, widths []int) {
	cells := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		cells[i] = wrap(cell, widths[i])
		height = max(height, len(cells[i]))
	}
	for at := range height {
		var line strings.Builder
		for i, lines := range cells {
			text := ""
			if at < len(lines) {
				text = lines[at]
			}
			line.WriteString(text + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text))+gap))
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
	}
}

// wrap breaks a cell between words into lines of a width.
func wrap(cell string, width int) []string {
	if utf8.RuneCountInString(cell) <= width {
		return []string{cell}
	}
	var lines []string
	for word := range strings.FieldsSeq(cell) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
