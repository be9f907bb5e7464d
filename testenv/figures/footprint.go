//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// listen is where the agent serves inside its node.
	listen = "127.0.0.1:9465"
	starts = 20
	// idleTime is how long the idle agent is watched.
	idleTime = time.Minute
	// ticks a second is how Linux counts CPU time for user space (USER_HZ).
	ticks = 100
)

// footprint measures what the agent costs: time to ready, memory after churn, CPU
// while nothing happens, size.
func (b *bench) footprint(ctx context.Context, churn int, idle time.Duration) (err error) {
	s, err := newStage(b.ours("--listen=" + listen))
	if err != nil {
		return err
	}
	defer func() { err = join(err, s.Close()) }()
	if err := s.startsToReady(ctx); err != nil {
		return err
	}
	for range churn {
		if err := s.node().FlushRuleset(); err != nil {
			return err
		}
		if err := s.standing(ctx); err != nil {
			return err
		}
	}
	resident, err := s.status("VmRSS")
	if err != nil {
		return err
	}
	fmt.Printf("resident memory after %d foreign flushes: %.1f MiB\n", churn, resident/1024)
	before, err := cpuTime(s.process.Process.Pid)
	if err != nil {
		return err
	}
	if err := pause(ctx, idle); err != nil {
		return err
	}
	after, err := cpuTime(s.process.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("CPU while idle: %.2f ms a second (over %v)\n", (after-before).Seconds()*1000/idle.Seconds(), idle)
	return b.size()
}

// startsToReady starts the agent on an empty node several times, and leaves the
// last one running.
func (s *stage) startsToReady(ctx context.Context) error {
	var times []time.Duration
	for range starts {
		s.end(syscall.SIGTERM)
		if err := s.node().FlushRuleset(); err != nil {
			return err
		}
		began := time.Now()
		if err := s.start(ctx); err != nil {
			return err
		}
		if err := s.ready(ctx); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fmt.Printf("start to ready: p50 %v, most %v (%d starts)\n", round(quantile(times, 50)), round(times[len(times)-1]), starts)
	return nil
}

// ready waits until the agent says so.
func (s *stage) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return s.node().Dial(ctx, network, address)
		},
		DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listen+"/readyz", nil)
	if err != nil {
		return err
	}
	for {
		response, err := client.Do(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ctx.Err() != nil {
			return errors.Join(errors.New("waiting for the agent to be ready"), ctx.Err(), err)
		}
		time.Sleep(time.Millisecond)
	}
}

// status reads a number of /proc/PID/status, in KiB.
func (s *stage) status(field string) (float64, error) {
	return statusOf(s.process.Process.Pid, field)
}

// resident is a process's resident memory, in KiB.
func resident(pid int) (float64, error) { return statusOf(pid, "VmRSS") }

func statusOf(pid int, field string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), field+":")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		return 0, fmt.Errorf("reading %s: %w", field, err)
	}
	return kib, nil
}

// cpuTime is the CPU time that a process has used.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name may hold blanks; behind it utime and stime are fields 14 and 15.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return 0, errors.New("reading CPU time: too few fields")
	}
	total := 0
	for _, i := range []int{utime, stime} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, fmt.Errorf("reading CPU time: %w", err)
		}
		total += n
	}
	return time.Duration(total) * time.Second / ticks, nil
}

// size is that of the binary, and compressed as in the image's one layer.
func (b *bench) size() error {
	f, err := os.Open(b.agent)
	if err != nil {
		return err
	}
	defer f.Close()
	var packed counter
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	n, err := io.Copy(z, f)
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	fmt.Printf("binary %.2f MiB, compressed %.2f MiB\n", float64(n)/(1<<20), float64(packed)/(1<<20))
	return nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// span shows the median of ratios, and the least and the most.
func span(ratios []float64) string {
	slices.Sort(ratios)
	return fmt.Sprintf("%.3f (%.3f to %.3f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
}
