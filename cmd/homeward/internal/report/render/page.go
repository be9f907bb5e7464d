package render

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"unicode"

	"homeward/cmd/homeward/internal/report"
)

//go:embed page.html
var pageText string

// HTML writes one page that needs nothing else: no script, no font, no image. It is
// light or dark as the reader prefers, and fits a phone.
func HTML(w io.Writer, r report.Report) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"word": word, "class": effectClass, "names": names, "takes": takes, "basis": basis,
		"announcement": announcementRow, "announcementHead": func() []string { return announcementHead },
		"measurement": measuredRow, "measuredHead": func() []string { return measuredHead },
		"question": func(q report.Question) string { return strings.ReplaceAll(string(q), "-", " ") },
		"out":      orOut,
		"traffic":  func(p report.SinglePoint) bool { return len(p.Takes) > 0 },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = page.Execute(&b, struct {
		report.Report
		// The pictures are made here, with all text in them escaped.
		Wide, Narrow template.HTML
	}{r, template.HTML(picture(r, wideFrame, "wide")), template.HTML(picture(r, narrowFrame, "narrow"))})
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.Map(printable, b.Bytes()))
	return err
}

// printable replaces what no reader should get from a name: control characters, and
// those that turn the direction of text.
func printable(r rune) rune {
	if r == '\n' || unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}
