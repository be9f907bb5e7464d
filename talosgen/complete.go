package talosgen

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"homeward/netplan"
)

// Complete is NewRenderer and Renderer.Complete in one, for one machine.
func Complete(base []byte, p *netplan.Plan, m netplan.Machine, pod map[string]any) ([]byte, error) {
	r, err := NewRenderer(p)
	if err != nil {
		return nil, err
	}
	return r.Complete(base, m, pod)
}

// Complete gives one machine's whole configuration: the base with our documents
// in it. base is a file of `talosctl gen config` for the machine's role, or an
// earlier result; from the latter it first takes out what it put in, so that
// twice gives the same bytes as once, and a changed plan leaves nothing old
// behind. What an operator added to a list stays.
//
// Documents that it need not touch stay as they are, byte for byte. In those it
// writes into (v1alpha1, HostnameConfig and the like) values and comments stay;
// indentation and blank lines become the YAML library's. The documents LinkConfig
// and DHCPv4Config of our two links are written anew each time.
//
// What it put in stands in one comment line of the result. Where that line was
// lost (a file that went through `talosctl machineconfig patch`, or a base made
// with our patch) it knows its own by name and shape; then a removed exclusion
// label is not put back, certificate names of an old VIP go on control planes
// only, and old name servers stay.
//
// It refuses, all reasons at once and each with its line, a base of the other
// role or for another Talos, and whatever else in it would fight with ours. No
// error repeats a value that could be a secret.
func (r *Renderer) Complete(base []byte, m netplan.Machine, pod map[string]any) ([]byte, error) {
	patch, err := r.MachinePatch(m, pod)
	if err != nil {
		return nil, err
	}
	ours, _, err := splitBase(patch)
	if err != nil {
		return nil, fmt.Errorf("machine %s: reading its own patch: %w", m.Name, err)
	}
	docs, rec, err := splitBase(base)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		rec = r.recognise(docs, ours, m)
	}
	docs = rec.takeOut(docs)
	if err := r.refuse(docs, m); err != nil {
		return nil, err
	}
	merged := &merger{docs: docs, rec: newRecord()}
	for _, d := range ours {
		if err := merged.add(d); err != nil {
			return nil, err
		}
	}
	if _, drop := nodeLabels(r.plan, m)[labelExcluded]; drop {
		merged.dropExclusion()
	}
	text, err := merged.text()
	if err != nil {
		return nil, err
	}
	return text, r.load(text, docs)
}

// text writes the base's documents, then the record and ours.
func (m *merger) text() ([]byte, error) {
	var buf bytes.Buffer
	write := func(d *document) error {
		text, err := d.encode()
		buf.Write(text)
		return err
	}
	for i, d := range m.docs {
		if i > 0 {
			buf.WriteString("---\n")
		}
		if err := write(d); err != nil {
			return nil, err
		}
	}
	line, err := m.rec.line()
	if err != nil {
		return nil, err
	}
	for i, d := range m.own {
		buf.WriteString("---\n")
		if i == 0 {
			buf.Write(line)
		}
		if err := write(d); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}

// load makes sure that Talos will load the result. The newer shape has kinds that
// machinery 1.13 does not know, so only the older one is tried here. Machinery's
// error repeats parts of the text, so it is not passed on.
func (r *Renderer) load(text []byte, docs []*document) error {
	if r.shape == Shape114 {
		return nil
	}
	if _, err := configloader.NewFromBytes(text); err == nil {
		return nil
	}
	for _, d := range docs {
		if _, err := configloader.NewFromBytes(d.text); err != nil && d.root != nil {
			return fmt.Errorf("line %d: %s does not load as a Talos 1.13 document: talosctl validate says why", d.line, d.id())
		}
	}
	return errors.New("the documents do not load together as a Talos 1.13 configuration: talosctl validate says why")
}
