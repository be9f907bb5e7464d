package parts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
)

func TestModuleText(t *testing.T) {
	tests := map[string]struct {
		source source
		theirs string
		want   string
		fault  string
	}{
		"a plain module keeps its Go version and debug settings": {
			source: source{name: "etcd", module: "example.com/etcd", version: "v3.6.8"},
			theirs: "module example.com/etcd\n\ngo 1.24\n\ngodebug default=go1.24\n\nrequire example.com/other v1.2.3\n",
			want:   "module homeward.invalid/lab/etcd\n\ngo 1.24\n\ngodebug default=go1.24\n\nrequire example.com/etcd v3.6.8\n",
		},
		"staging modules get the version of the same minor, and nothing else does": {
			source: source{name: "kubernetes", module: "k8s.io/kubernetes", version: "v1.36.3", staging: true},
			theirs: "module k8s.io/kubernetes\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/api v0.0.0\n\tk8s.io/klog/v2 v2.140.0\n\texample.com/x v0.0.0\n)\n",
			want:   "module homeward.invalid/lab/kubernetes\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.36.3\n\nreplace k8s.io/api => k8s.io/api v0.36.3\n",
		},
		"a later version of what it requires": {
			source: source{name: "flannel", module: "example.com/flannel", version: "v0.28.4", newer: []module.Version{{Path: "example.com/cloud", Version: "v1.3.190"}}},
			theirs: "module example.com/flannel\n\ngo 1.25.0\n\nrequire example.com/cloud v1.3.79\n",
			want:   "module homeward.invalid/lab/flannel\n\ngo 1.25.0\n\nrequire (\n\texample.com/flannel v0.28.4\n\texample.com/cloud v1.3.190\n)\n",
		},
		"staging modules that are none": {
			source: source{name: "kubernetes", module: "k8s.io/kubernetes", version: "v1.36.3", staging: true},
			theirs: "module k8s.io/kubernetes\n\ngo 1.26.0\n\nrequire k8s.io/api v0.36.3\n",
			fault:  "no k8s.io module at v0.0.0",
		},
		"not a go.mod": {
			source: source{name: "etcd", module: "example.com/etcd", version: "v3.6.8"},
			theirs: "module",
			fault:  "reading a go.mod",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := moduleText(test.source, []byte(test.theirs))
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Fatalf("error %v, want one with %q", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("go.mod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKubernetesVersionIsStamped(t *testing.T) {
	for _, want := range []string{"version.gitVersion=v1.36.3", "version.gitMajor=1 ", "version.gitMinor=36 "} {
		if got := kubernetesVersion(); !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

func TestEnsureTakesFinishedProgramsAndBuildsNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(CacheVariable, cache)
	var want int
	for _, s := range sources() {
		for _, p := range s.programs {
			want++
			file := s.file(cache, p)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Without a proxy the module of MetalLB's definitions is there or it is not;
	// programs are not built in either case.
	t.Setenv("GOPROXY", "off")
	var progress strings.Builder
	set, err := Ensure(t.Context(), &progress)
	if err != nil && !strings.Contains(err.Error(), "downloading "+metallbModule) {
		t.Fatal(err)
	}
	if progress.Len() != 0 {
		t.Errorf("said %q", progress.String())
	}
	if err == nil && len(set.programs) != want {
		t.Errorf("%d programs, want %d", len(set.programs), want)
	}
}
