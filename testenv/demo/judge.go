package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// judge has every generated file read by the code that will read it, and says
// what came of it.
func (d *demo) judge() error {
	for _, check := range []struct {
		what    string
		pattern string
		read    func(path string) error
	}{
		{"Talos loads and validates", "machines/*.yaml", validMachine},
		{"Kubernetes decodes strictly", "kubernetes/traefik.yaml", validObjects},
		{"Kubernetes decodes strictly", "kubernetes/cleanup-pod.yaml", validObjects},
		{"sh parses", "proxmox/nics.sh", validScript},
	} {
		paths, err := filepath.Glob(filepath.Join(d.out, filepath.FromSlash(check.pattern)))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("%s: no such file was generated", check.pattern)
		}
		for _, path := range paths {
			if err := check.read(path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			fmt.Printf("%s: %s\n", check.what, path)
		}
	}
	fmt.Printf("\nLook at %s for the exact commands of this cluster, then at %s and %s.\n",
		filepath.Join(d.out, "README.md"), filepath.Join(d.out, "talos"), filepath.Join(d.out, "kubernetes"))
	return nil
}

// metal is the platform of a Proxmox VM.
type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return true }
func (metal) InContainer() bool     { return false }

func validMachine(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cfg, err := configloader.NewFromBytes(text)
	if err != nil {
		return err
	}
	_, err = cfg.Validate(metal{})
	return err
}

func validObjects(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), networkingv1.AddToScheme(scheme)); err != nil {
		return err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, _, err := decoder.Decode(doc, nil, nil); err != nil {
			return err
		}
	}
}

func validScript(path string) error {
	out, err := exec.Command("sh", "-n", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
