package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	_ "image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"homeward/cmd/homeward/internal/report"
)

// keepShots names a directory in which the screenshots stay, for somebody to look at.
const keepShots = "HOMEWARD_SCREENSHOTS"

// view is one way in which a page is looked at.
type view struct {
	width int
	dark  bool
}

var views = []view{{1280, false}, {1280, true}, {390, false}, {390, true}}

func (v view) String() string {
	return fmt.Sprintf("%d-%s", v.width, map[bool]string{true: "dark", false: "light"}[v.dark])
}

// browse opens a file in Chromium without a window.
func browse(t *testing.T, v view, file string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs chromium (Debian package chromium):", err)
		}
		t.Skip("chromium is not installed:", err)
	}
	scheme := map[bool]string{true: "0", false: "1"}[v.dark]
	args = append([]string{
		"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + t.TempDir(),
		"--blink-settings=preferredColorScheme=" + scheme, fmt.Sprintf("--window-size=%d,3200", v.width),
	}, args...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses its sandbox to root
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, (&url.URL{Scheme: "file", Path: file}).String())...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, problems.String())
	}
	return string(out)
}

// seen is what inspect.js saw.
type seen struct {
	Width, ScrollWidth, Resources int
	Title, Background, Faint      string
	Pictures, Outside, Spilled    []string
	Contrast                      float64
}

var policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)

// inspect lets the browser say what it made of a page. The page's own policy forbids
// scripts, so it is taken out for that.
func inspect(t *testing.T, v view, page string) seen {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "inspect.js"))
	if err != nil {
		t.Fatal(err)
	}
	if !policy.MatchString(page) {
		t.Error("the page does not forbid scripts")
	}
	page = strings.Replace(policy.ReplaceAllString(page, ""), "</body>", "<script>"+string(script)+"</script></body>", 1)
	// A window has a least width, a frame has none.
	frame := fmt.Sprintf(`<!DOCTYPE html><meta name="color-scheme" content="light dark"><body style="margin:0"><iframe style="border:0;width:%dpx;height:3000px" srcdoc="%s"></iframe></body>`,
		v.width, html.EscapeString(page))
	dom := browse(t, v, pageFile(t, frame), "--dump-dom")
	found := regexp.MustCompile(`<pre id="seen">([^<]*)</pre>`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the script did not run to its end:\n%.2000s", dom)
	}
	text, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func pageFile(t *testing.T, page string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The least contrast of text that WCAG's level AA allows.
const leastContrast = 4.5

func TestPageInABrowser(t *testing.T) {
	for name, make := range map[string]func(testing.TB) report.Report{"one-host": oneHost, "crowded": crowded} {
		page := written(t, HTML, make(t))
		for _, v := range views {
			t.Run(name+"-"+v.String(), func(t *testing.T) {
				t.Parallel()
				s := inspect(t, v, page)
				if s.Width != v.width || s.ScrollWidth > v.width || len(s.Outside) > 0 {
					t.Errorf("in %d pixels the page is %d wide (asked for %d); outside: %q", s.Width, s.ScrollWidth, v.width, s.Outside)
				}
				if want := map[bool]string{true: "wide", false: "narrow"}[v.width > 720]; len(s.Pictures) != 1 || s.Pictures[0] != want {
					t.Errorf("it shows the pictures %q, want %q", s.Pictures, want)
				}
				if want := map[bool]string{true: "rgb(13, 17, 23)", false: "rgb(255, 255, 255)"}[v.dark]; s.Background != want {
					t.Errorf("the ground is %s, want %s", s.Background, want)
				}
				if len(s.Spilled) > 0 {
					t.Errorf("text of the picture is wider than its box: %q", s.Spilled)
				}
				if s.Contrast < leastContrast {
					t.Errorf("%q has a contrast of %.2f", s.Faint, s.Contrast)
				}
				if s.Resources != 0 || s.Title != "Availability of edge" {
					t.Errorf("it loaded %d resources, and its title is %q", s.Resources, s.Title)
				}
			})
		}
	}
}

func TestScreenshots(t *testing.T) {
	file := pageFile(t, written(t, HTML, oneHost(t)))
	dir := os.Getenv(keepShots)
	if dir == "" {
		dir = t.TempDir()
	}
	for _, v := range views {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			shot := filepath.Join(dir, v.String()+".png")
			browse(t, v, file, "--screenshot="+shot)
			f, err := os.Open(shot)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			img, _, err := image.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if got := img.Bounds().Dx(); got != v.width {
				t.Errorf("it is %d pixels wide", got)
			}
			r, g, b, _ := img.At(2, 2).RGBA()
			if dark := r+g+b < 3*0x4000; dark != v.dark {
				t.Errorf("its corner is %x %x %x", r, g, b)
			}
			if red := reddish(img, v.dark); red < 400 {
				t.Errorf("only %d pixels are red: the single point is not marked", red)
			}
		})
	}
}

// reddish counts the pixels in the colour of what is lost.
func reddish(img image.Image, dark bool) (n int) {
	want := [3]uint32{0xa4, 0x0e, 0x26}
	if dark {
		want = [3]uint32{0xff, 0x93, 0x8a}
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); [3]uint32{r >> 8, g >> 8, b >> 8} == want {
				n++
			}
		}
	}
	return n
}
