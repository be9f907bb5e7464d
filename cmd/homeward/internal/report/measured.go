package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"homeward/netplan"
)

// Measurement is what a run of `homeward probe` measured at one target.
type Measurement struct {
	// File is where it was read from.
	File string `json:"file"`
	// Target as it was given, and Address with the port that was probed.
	Target  string `json:"target"`
	Address string `json:"address"`
	// Of says what the address is in this plan; empty is nothing of it.
	Of     string    `json:"of,omitempty"`
	Start  time.Time `json:"start"`
	Length Duration  `json:"length_ns"`
	// Interval is the resolution of the outages.
	Interval Duration `json:"interval_ns"`
	Attempts int64    `json:"attempts"`
	Answered int64    `json:"answered"`
	Failed   int64    `json:"failed"`
	// Unknown attempts could not be judged.
	Unknown int64    `json:"unknown"`
	Outages int64    `json:"outages"`
	Longest Duration `json:"longest_outage_ns"`
	Total   Duration `json:"total_outage_ns"`
	// P99 is of the TCP handshake; zero is not measured.
	P99 Duration `json:"connect_p99_ns,omitempty"`
	// OnLink: the client was on the target's segment, so that it proves nothing of the
	// return path.
	OnLink bool `json:"on_link"`
	// TakeOvers are the changes of the MAC that answered.
	TakeOvers []TakeOver `json:"take_overs"`
}

// Duration is a time in nanoseconds in JSON.
type Duration = time.Duration

// TakeOver is one change of who answers.
type TakeOver struct {
	Time time.Time `json:"time"`
	// From and To are machines of the plan, or MACs of nobody there.
	From string `json:"from"`
	To   string `json:"to"`
}

// probed is what `homeward probe -o json` prints, as far as a report uses it.
type probed struct {
	Interval *time.Duration `json:"interval_ns"`
	Start    time.Time      `json:"start"`
	Length   time.Duration  `json:"length_ns"`
	Targets  []struct {
		Target     string        `json:"target"`
		Address    string        `json:"address"`
		Attempts   int64         `json:"attempts"`
		Answered   int64         `json:"answered"`
		Failed     int64         `json:"failed"`
		Unknown    int64         `json:"unknown"`
		Outages    int64         `json:"outage_count"`
		Total      time.Duration `json:"outage_total_ns"`
		Longest    time.Duration `json:"outage_longest_ns"`
		Interface  string        `json:"interface"`
		MACChanges []struct {
			Time time.Time `json:"time"`
			From string    `json:"from"`
			To   string    `json:"to"`
		} `json:"mac_changes"`
		Connect *struct {
			P99 time.Duration `json:"p99_ns"`
		} `json:"connect"`
	} `json:"targets"`
}

// ParseMeasured reads the summary that `homeward probe -o json` printed. File is what
// the measurements are shown under.
func ParseMeasured(file string, data []byte, plan *netplan.Plan) ([]Measurement, error) {
	var p probed
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s is no summary of `homeward probe -o json`: %w", file, err)
	}
	if dec.More() {
		return nil, fmt.Errorf("%s holds more than one JSON value: give what `homeward probe -o json` printed, not -o jsonl", file)
	}
	if p.Interval == nil || len(p.Targets) == 0 {
		return nil, fmt.Errorf("%s is no summary of `homeward probe -o json`: it has no interval_ns or no targets", file)
	}
	var out []Measurement
	for i, t := range p.Targets {
		if err := sound(t.Attempts, t.Answered, t.Failed, t.Unknown, t.Outages); err != nil {
			return nil, fmt.Errorf("%s: targets[%d]: %w", file, i, err)
		}
		m := Measurement{
			File: file, Target: t.Target, Address: t.Address, Of: meaning(t.Address, plan),
			Start: p.Start.UTC(), Length: p.Length, Interval: *p.Interval,
			Attempts: t.Attempts, Answered: t.Answered, Failed: t.Failed, Unknown: t.Unknown,
			Outages: t.Outages, Longest: t.Longest, Total: t.Total, OnLink: t.Interface != "", TakeOvers: []TakeOver{},
		}
		if t.Connect != nil {
			m.P99 = t.Connect.P99
		}
		for _, c := range t.MACChanges {
			m.TakeOvers = append(m.TakeOvers, TakeOver{c.Time.UTC(), holder(c.From, plan), holder(c.To, plan)})
		}
		out = append(out, m)
	}
	return out, nil
}

func sound(attempts, answered, failed, unknown, outages int64) error {
	switch {
	case min(attempts, answered, failed, unknown, outages) < 0:
		return errors.New("a count is below zero")
	case answered+failed+unknown != attempts:
		return fmt.Errorf("%d answered, %d failed and %d unknown are not its %d attempts", answered, failed, unknown, attempts)
	}
	return nil
}

// meaning says what an address with a port is in the plan.
func meaning(address string, p *netplan.Plan) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	a := at.Addr().Unmap()
	if p.KubeAPI.VIP == a {
		return "the Kubernetes API's VIP"
	}
	if p.External != nil && p.External.IngressPool.Contains(a) {
		return "an address of the pool"
	}
	for _, m := range p.Machines {
		if m.Address == a || m.ExternalAddress == a {
			return "the address of " + m.Name
		}
	}
	return ""
}

// holder names the machine that has a MAC, else the MAC.
func holder(mac string, p *netplan.Plan) string {
	for _, m := range p.Machines {
		if mac != "" && (m.MACs.External.String() == mac || m.MACs.Cluster.String() == mac) {
			return m.Name
		}
	}
	return mac
}
