package daytwo

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"homeward/netplan"
)

// The chapters, in their order. Each is a template over facts.
//
//go:embed text/*.md
var chapters embed.FS

var (
	chapterNames = []string{"tree.md", "create.md", "change.md", "pool.md", "machines.md", "pod.md", "limits.md"}
	// On OpenStack ports and floating IPs take the place of pool, NICs and return path.
	cloudChapters = []string{"tree.md", "create.md", "cloudchange.md", "cloudmachines.md"}
)

// README renders README.md for one plan, in Markdown. Its commands run in the
// directory of the generated tree. Chapters about the external link are left out
// where the plan has none. While addresses are not allocated it fails with
// netplan.ErrUnallocated.
func README(p *netplan.Plan) ([]byte, error) {
	if err := p.Complete(); err != nil {
		return nil, err
	}
	t, err := template.New("README.md").Funcs(template.FuncMap{"join": strings.Join}).ParseFS(chapters, "text/*.md")
	if err != nil {
		return nil, fmt.Errorf("parsing the README: %w", err)
	}
	about, names := newFacts(p), chapterNames
	if p.OpenStack != nil {
		names = cloudChapters
	}
	var out bytes.Buffer
	for _, name := range names {
		if err := t.ExecuteTemplate(&out, name, about); err != nil {
			return nil, fmt.Errorf("rendering %s of the README: %w", name, err)
		}
	}
	return tidy(out.Bytes()), nil
}

// tidy takes out the blank lines that a chapter left out leaves behind.
func tidy(text []byte) []byte {
	for bytes.Contains(text, []byte("\n\n\n")) {
		text = bytes.ReplaceAll(text, []byte("\n\n\n"), []byte("\n\n"))
	}
	return append(bytes.TrimSpace(text), '\n')
}
