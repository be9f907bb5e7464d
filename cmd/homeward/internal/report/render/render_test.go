package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeward/cmd/homeward/internal/report"
)

func written(t testing.TB, write func(io.Writer, report.Report) error, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, make := range clusters {
		t.Run(name, func(t *testing.T) {
			r := make(t)
			golden(t, name+".md", written(t, Markdown, r))
			golden(t, name+".json", written(t, JSON, r))
			golden(t, name+".html", written(t, HTML, r))
		})
	}
}

func TestJSONComesBackAsItWas(t *testing.T) {
	r := good(t)
	var back report.Report
	dec := json.NewDecoder(strings.NewReader(written(t, JSON, r)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&back); err != nil {
		t.Fatal(err)
	}
	for i := range r.Announcements {
		// What is kept from JSON is for making the report only.
		r.Announcements[i] = report.Announcement{
			Address: r.Announcements[i].Address, Order: r.Announcements[i].Order, Eligible: r.Announcements[i].Eligible,
			Services: r.Announcements[i].Services, Policy: r.Announcements[i].Policy, Now: r.Announcements[i].Now, Endpoints: r.Announcements[i].Endpoints,
		}
	}
	if diff := cmp.Diff(r, back, cmp.AllowUnexported(report.Announcement{})); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
	if strings.Contains(written(t, JSON, minimal(t)), "null") {
		t.Error("a list is null")
	}
}

// The page needs nothing but itself.
func TestPageStandsAlone(t *testing.T) {
	for name, make := range clusters {
		page := written(t, HTML, make(t))
		for _, banned := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", "src=", "http-equiv=\"refresh"} {
			if strings.Contains(page, banned) {
				t.Errorf("%s: the page has %s", name, banned)
			}
		}
		for _, link := range regexp.MustCompile(`href="[^"]*"`).FindAllString(page, -1) {
			if link != `href="#measured"` {
				t.Errorf("%s: the page leads to %s", name, link)
			}
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	for _, r := range []report.Report{good(t), oneHost(t), minimal(t), crowded(t)} {
		for _, f := range []frame{wideFrame, narrowFrame} {
			for dec := xml.NewDecoder(strings.NewReader(string(bytes.Map(printable, []byte(picture(r, f, "wide")))))); ; {
				token, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg rect path circle text ", " "+e.Name.Local+" ") {
					t.Errorf("the picture has a %s", e.Name.Local)
				}
			}
		}
	}
}

func TestHostileNamesAreEscaped(t *testing.T) {
	r := crowded(t)
	page := written(t, HTML, r)
	for _, banned := range []string{"<script", "<img", "\x1b", "\u202e", "onerror=alert(1)>"} {
		if strings.Contains(page, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;") {
		t.Error("the name is not there at all")
	}
	text := written(t, Markdown, r)
	for _, banned := range []string{"\x1b", "\u202e", "\n# owned", "a](http", "http://"} {
		if strings.Contains(text, banned) {
			t.Errorf("Markdown has %q", banned)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "owned") && regexp.MustCompile("(^|[^\\\\])[<`]").MatchString(line) {
			t.Errorf("Markdown is open to a name: %s", line)
		}
	}
	if got := written(t, JSON, r); strings.ContainsAny(got, "<\x1b") {
		t.Error("JSON has a raw sign of HTML or of a terminal")
	}
}
