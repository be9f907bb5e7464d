package talosgen

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"

	"homeward/netplan"
)

// bundle is the secrets of all base configurations here, made once. The 1.2
// contract spares the RSA key, which takes seconds.
var bundle = sync.OnceValues(func() (*secrets.Bundle, error) {
	return secrets.NewBundle(secrets.NewFixedClock(time.Now()), config.TalosVersion1_2)
})

// bases keeps what base has made, by its arguments.
var bases sync.Map

// base is what `talosctl gen config` would write for a role.
func base(t testing.TB, role netplan.Role, contract string, comments encoder.CommentsFlags) []byte {
	t.Helper()
	key := fmt.Sprint(role, contract, comments)
	if made, ok := bases.Load(key); ok {
		return made.([]byte)
	}
	made := makeBase(t, role, contract, comments)
	bases.Store(key, made)
	return made
}

func makeBase(t testing.TB, role netplan.Role, contract string, comments encoder.CommentsFlags) []byte {
	t.Helper()
	b, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	version, err := config.ParseContractFromVersion(contract)
	if err != nil {
		t.Fatal(err)
	}
	in, err := generate.NewInput("edge", "https://203.0.113.79:6443", "1.36.3",
		generate.WithVersionContract(version), generate.WithSecretsBundle(b), generate.WithInstallDisk("/dev/sda"))
	if err != nil {
		t.Fatal(err)
	}
	kind := talosmachine.TypeWorker
	if role == netplan.RoleControlPlane {
		kind = talosmachine.TypeControlPlane
	}
	cfg, err := in.Config(kind)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cfg.EncodeBytes(encoder.WithComments(comments))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// apply patches a base as talosctl does.
func apply(t testing.TB, base, patch []byte) config.Provider {
	t.Helper()
	patches, err := configpatcher.LoadPatches([]string{string(patch)})
	if err != nil {
		t.Fatalf("loading the patch: %v\n%s", err, patch)
	}
	out, err := configpatcher.Apply(configpatcher.WithBytes(base), patches)
	if err != nil {
		t.Fatalf("applying the patch: %v\n%s", err, patch)
	}
	text, err := out.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return load(t, text)
}

func load(t testing.TB, text []byte) config.Provider {
	t.Helper()
	cfg, err := configloader.NewFromBytes(text)
	if err != nil {
		t.Fatalf("loading: %v\n%s", err, text)
	}
	return cfg
}

// mode is one of talosctl's `validate --mode`.
type mode struct {
	name    string
	install bool
}

func (m mode) String() string        { return m.name }
func (m mode) RequiresInstall() bool { return m.install }
func (m mode) InContainer() bool     { return false }

// validate wants a configuration that Talos accepts without a warning, on metal
// and in a cloud.
func validate(t testing.TB, cfg config.Provider) {
	t.Helper()
	for _, m := range []mode{{"metal", true}, {"cloud", false}} {
		warnings, err := cfg.Validate(m)
		if err != nil {
			t.Errorf("validate in %s mode: %v", m, err)
		}
		if len(warnings) > 0 {
			t.Errorf("validate in %s mode warns: %q", m, warnings)
		}
	}
}
