//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"homeward/agent/segment"
	"homeward/netplan"
)

// finding is what a probe found of one address. Its JSON is a contract for scripts.
type finding struct {
	Kind       string        `json:"kind"` // "answer"
	Address    netip.Addr    `json:"address"`
	Use        string        `json:"use"`
	State      segment.State `json:"state"`
	Holders    []holder      `json:"holders,omitempty"`
	More       bool          `json:"more_holders,omitempty"`
	AlsoProbed bool          `json:"also_probed,omitempty"`
}

// holder is one who has an address.
type holder struct {
	MAC      netplan.MAC `json:"mac"`
	Machine  string      `json:"machine,omitempty"`
	Answered bool        `json:"answered"`
	// Stranger says that the address is ours and the MAC is not.
	Stranger bool `json:"stranger,omitempty"`
}

// summary closes a probe.
type summary struct {
	Kind      string     `json:"kind"` // "summary"
	Proven    bool       `json:"proven"`
	Witness   netip.Addr `json:"witness,omitzero"`
	Doubt     string     `json:"doubt,omitempty"`
	Strangers int        `json:"strangers"`
	Conflicts int        `json:"conflicts"`
	Frames    uint64     `json:"frames"`
	Malformed uint64     `json:"malformed"`
	Lost      uint64     `json:"lost"`
}

// findings are all of a probe. Their JSON is a contract for scripts.
type findings struct {
	Answers []finding `json:"answers"`
	Summary summary   `json:"summary"`
}

// find names who answered.
func (h *host) find(r segment.Report) findings {
	out := findings{Answers: []finding{}, Summary: summary{
		Kind: "summary", Proven: r.Proven, Witness: r.Witness, Doubt: r.Doubt(),
		Frames: r.Frames, Malformed: r.Malformed, Lost: r.Lost,
	}}
	for _, t := range h.watched.targets {
		a, _ := r.Of(t.Address)
		f := finding{Kind: "answer", Address: t.Address, Use: t.Use, State: a.State, More: a.More, AlsoProbed: a.AlsoProbed}
		if a.Local {
			f.Holders = append(f.Holders, holder{Machine: "this host", Answered: true, Stranger: t.Ours})
		}
		for _, x := range a.Holders {
			f.Holders = append(f.Holders, holder{
				MAC: x.MAC, Machine: h.watched.name(x.MAC), Answered: x.Answered, Stranger: t.Ours && h.watched.ours[x.MAC] == "",
			})
		}
		for _, x := range f.Holders {
			if x.Stranger {
				out.Summary.Strangers++
			}
		}
		if len(f.Holders) > 1 {
			out.Summary.Conflicts++
		}
		out.Answers = append(out.Answers, f)
	}
	slices.SortFunc(out.Answers, func(a, b finding) int { return a.Address.Compare(b.Address) })
	return out
}

// who is a finding's holders for a person.
func (f finding) who() string {
	var parts []string
	for _, h := range f.Holders {
		text := h.MAC.String()
		switch {
		case h.MAC.IsZero():
			text = h.Machine
		case h.Machine != "":
			text += " (" + h.Machine + ")"
		}
		if h.Stranger {
			text += " STRANGER"
		}
		if !h.Answered {
			text += ", which announces it and does not answer"
		}
		parts = append(parts, text)
	}
	if f.More {
		parts = append(parts, "and more")
	}
	if f.AlsoProbed && len(parts) == 0 {
		parts = append(parts, "nobody; somebody else probed for it too")
	}
	if len(parts) == 0 {
		return "nobody"
	}
	return strings.Join(parts, "; ")
}

// print writes the findings. In the table neighbours of whom there is the same to
// say share a row.
func (f findings) print(out io.Writer, format string) error {
	switch format {
	case outputJSON:
		return printJSON(out, f)
	case outputJSONL:
		return printLines(out, f.Answers, f.Summary)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ADDRESS\tUSE\tSTATE\tWHO ANSWERS")
	for i := 0; i < len(f.Answers); {
		first, last := f.Answers[i], i
		for last+1 < len(f.Answers) && first.joins(f.Answers[last+1]) && f.Answers[last].Address.Next() == f.Answers[last+1].Address {
			last++
		}
		name := first.Address.String()
		if last > i {
			name += "-" + f.Answers[last].Address.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, first.Use, first.State, first.who())
		i = last + 1
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", f.Summary.text())
	return err
}

// printJSON writes one document.
func printJSON(out io.Writer, document any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// printLines writes one JSON object a line, the summary last.
func printLines[T any](out io.Writer, objects []T, summary any) error {
	e := json.NewEncoder(out)
	for _, o := range objects {
		if err := e.Encode(o); err != nil {
			return err
		}
	}
	return e.Encode(summary)
}

// joins says that there is the same to say of both, and nobody to name.
func (f finding) joins(o finding) bool {
	return len(f.Holders)+len(o.Holders) == 0 && f.Use == o.Use && f.State == o.State && f.AlsoProbed == o.AlsoProbed
}

// text says what silence was worth.
func (s summary) text() string {
	if s.Doubt != "" {
		return "Nothing is called free: " + s.Doubt
	}
	return fmt.Sprintf("%s answered, so what is silent is free.", s.Witness)
}

// eventPrinter writes events, and once the state they begin with.
type eventPrinter struct {
	mu     sync.Mutex
	out    io.Writer
	format string
	begun  bool
}

func (p *eventPrinter) event(e segment.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.format == outputJSONL {
		return json.NewEncoder(p.out).Encode(e)
	}
	_, err := fmt.Fprintf(p.out, "%s  %s\n", e.Time.Format("2006-01-02 15:04:05.000"), e.Text())
	return err
}

// first prints the state, the first time it is called.
func (p *eventPrinter) first(rows []segment.Row) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun || p.format == outputJSONL {
		return nil
	}
	p.begun = true
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nADDRESS\tUSE\tSTATE\tWHO ANSWERS")
	for i := 0; i < len(rows); {
		last := i
		for last+1 < len(rows) && rows[i].MAC.IsZero() && rows[last+1].MAC.IsZero() && rows[i].Use == rows[last+1].Use &&
			rows[i].Held == rows[last+1].Held && rows[last].Address.Next() == rows[last+1].Address {
			last++
		}
		name := rows[i].Address.String()
		if last > i {
			name += "-" + rows[last].Address.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, rows[i].Use, rows[i].Held, rows[i].Who())
		i = last + 1
	}
	fmt.Fprintln(t)
	return t.Flush()
}
