//go:build linux

package topology

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/testenv/netlab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cells is a whole matrix in which a question decides what came of each cell.
func cells(outcome func(netlab.Cell) netlab.Path) []netlab.Cell {
	var list []netlab.Cell
	for _, b := range []netlab.BackendKind{netlab.PodHere, netlab.HostHere, netlab.PodThere, netlab.HostThere} {
		for _, client := range []netlab.ClientKind{netlab.ClientBehind, netlab.ClientOnLink} {
			for _, protocol := range []netlab.Protocol{netlab.TCP, netlab.UDP} {
				c := netlab.Cell{Backend: b, Policy: netlab.PolicyCluster, Client: client, Protocol: protocol}
				c.Path = outcome(c)
				c.Answered = c.Path == netlab.PathExternal
				list = append(list, c)
			}
		}
	}
	return list
}

func always(p netlab.Path) func(netlab.Cell) netlab.Path {
	return func(netlab.Cell) netlab.Path { return p }
}

// half is the shell alternative's outcome: only pods are served.
func half(c netlab.Cell) netlab.Path {
	if c.Backend == netlab.HostHere {
		return netlab.PathPrivate
	}
	return netlab.PathExternal
}

func draw(t *testing.T, panels ...Panel) string {
	t.Helper()
	var b bytes.Buffer
	if err := (Drawing{Addresses: netlab.DefaultAddresses(), Panels: panels}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	tests := map[string][]Panel{
		"lost-home":  {{"Without Homeward", cells(always(netlab.PathPrivate))}, {"With Homeward", cells(always(netlab.PathExternal))}},
		"half-stuck": {{"Half", cells(half)}, {"Stuck", cells(always(netlab.PathNone))}},
	}
	for name, panels := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".svg")
			got := draw(t, panels...)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got); go test -update rewrites it:\n%s", path, diff)
			}
		})
	}
}

func TestWellFormed(t *testing.T) {
	svg := draw(t, Panel{`<"a" & 'b'>`, cells(half)}, Panel{"b", nil})
	ids := 0
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		ids++
		for _, a := range element.Attr {
			if a.Name.Local == "href" || a.Name.Local == "src" {
				t.Errorf("%s refers to %s: the file must stand alone", element.Name.Local, a.Value)
			}
		}
	}
	if ids < 50 {
		t.Errorf("only %d elements: that is no drawing", ids)
	}
	if strings.Contains(svg, "url(") || strings.Contains(svg, "@import") {
		t.Error("the style loads something from elsewhere")
	}
}

// TestPathsAreMeasured shows that the reply's lanes follow the cells alone.
func TestPathsAreMeasured(t *testing.T) {
	type lanes struct{ home, dropped, stuck bool }
	tests := map[string]struct {
		outcome func(netlab.Cell) netlab.Path
		want    lanes
	}{
		"all by private":  {always(netlab.PathPrivate), lanes{dropped: true}},
		"all by external": {always(netlab.PathExternal), lanes{home: true}},
		"some of each":    {half, lanes{home: true, dropped: true}},
		"no reply":        {always(netlab.PathNone), lanes{stuck: true}},
		"wrong source":    {always(netlab.PathWrongSource), lanes{stuck: true}},
		"both":            {always(netlab.PathBoth), lanes{dropped: true}},
		"only the on-link client is lost": {func(c netlab.Cell) netlab.Path {
			if c.Client == netlab.ClientOnLink {
				return netlab.PathPrivate
			}
			return netlab.PathExternal
		}, lanes{home: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			svg := draw(t, Panel{"x", cells(test.outcome)})
			got := lanes{
				home:    strings.Contains(svg, `class="head reply"`),
				dropped: strings.Contains(svg, "replies dropped"),
				// One heavy cross is the legend's, one the gateway's.
				stuck: strings.Count(svg, `class="mark bad cross"`) > 1 && !strings.Contains(svg, "replies dropped"),
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(lanes{})); diff != "" {
				t.Errorf("lanes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCountsAreShown(t *testing.T) {
	svg := draw(t, Panel{"x", cells(half)})
	for _, want := range []string{"12 of 16 requests answered", "6 of 8 replies", ">2 replies dropped:"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing does not say %q", want)
		}
	}
}
