package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"homeward/agent/probe"
	"homeward/cmd/homeward/internal/timeline"
)

// runProbe probes to the end, shows what happens meanwhile, and prints what was
// asked for.
func (t *tool) runProbe(ctx context.Context, f probeFlags, prober *probe.Prober) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var showing sync.WaitGroup
	var written error
	showing.Go(func() {
		if written = t.follow(f, prober); written != nil {
			stop() // nobody reads what is measured
			for range prober.Events() {
				// A closed channel ends this; the measurement does not wait for it.
			}
		}
	})
	over := make(chan struct{})
	showing.Go(func() { t.live(prober, over) })
	prober.Run(ctx)
	close(over)
	showing.Wait()

	if written != nil {
		return written // the run was cut off by it, so that it judges nothing
	}
	summary := prober.Summary()
	err := t.printProbe(f, &summary)
	if f.plot != "" {
		err = errors.Join(err, writePlot(f.plot, timeline.Drawing{Summary: &summary}))
	}
	return errors.Join(err, verdict(&summary, f.bound))
}

// follow writes events as they come, if they were asked for.
func (t *tool) follow(f probeFlags, prober *probe.Prober) error {
	out := json.NewEncoder(t.out)
	for e := range prober.Events() {
		if f.output != "jsonl" {
			continue
		}
		if err := out.Encode(e); err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
	}
	return nil
}

// printProbe prints the summary in the format that was asked for.
func (t *tool) printProbe(f probeFlags, s *probe.Summary) error {
	switch f.output {
	case "json":
		return encode(t.out, "json", s)
	case "jsonl":
		return json.NewEncoder(t.out).Encode(probe.Event{Kind: probe.EventSummary, Time: s.Start.Add(s.Length), Summary: s})
	}
	b := t.page()
	probeTables(b, s)
	_, err := t.out.Write([]byte(b.String()))
	return err
}

// verdict is an error when the run broke a bound or cannot say.
func verdict(s *probe.Summary, bound time.Duration) error {
	j := s.Judge(bound)
	var errs []error
	for _, text := range firstFew(j.Broken) {
		errs = append(errs, &coded{exitFailed, errors.New(text)})
	}
	for _, text := range firstFew(j.Unknown) {
		errs = append(errs, &coded{exitUnknown, errors.New(text)})
	}
	return errors.Join(errs...)
}

// firstFew keeps a complaint about a thousand targets readable.
func firstFew(texts []string) []string {
	const most = 10
	if len(texts) <= most {
		return texts
	}
	return append(texts[:most:most], fmt.Sprintf("and %d more", len(texts)-most))
}

// writePlot writes a drawing whole or not at all.
func writePlot(path string, d timeline.Drawing) error {
	var svg bytes.Buffer
	if err := d.Write(&svg); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	_, err = temp.Write(svg.Bytes())
	const readable = 0o644
	err = errors.Join(err, temp.Chmod(readable), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("--plot: %w", err), os.Remove(temp.Name()))
	}
	return nil
}
