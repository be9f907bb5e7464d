package probe

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latency is the distribution of times, each to 1 %. Its JSON form is stable, in
// nanoseconds.
type Latency struct {
	Count int64         `json:"count"`
	Min   time.Duration `json:"min_ns"`
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p999_ns"`
	Max   time.Duration `json:"max_ns"`
}

// times gathers a distribution in bounded memory: some 20 kB, whatever the
// number of values.
type times struct{ h *hdrhistogram.Histogram }

// newTimes takes times from a microsecond to an hour, to two digits.
func newTimes() times { return times{hdrhistogram.New(1, time.Hour.Microseconds(), 2)} }

func (t times) add(d time.Duration) {
	v := min(max(d.Microseconds(), 1), time.Hour.Microseconds())
	// What is in the bounds is always taken.
	_ = t.h.RecordValue(v)
}

// latency gives the distribution; nil without a value.
func (t times) latency() *Latency {
	if t.h.TotalCount() == 0 {
		return nil
	}
	at := func(percent float64) time.Duration {
		return time.Duration(t.h.ValueAtPercentile(percent)) * time.Microsecond
	}
	return &Latency{
		Count: t.h.TotalCount(),
		Min:   time.Duration(t.h.Min()) * time.Microsecond,
		P50:   at(50), P90: at(90), P99: at(99), P999: at(99.9),
		Max: time.Duration(t.h.Max()) * time.Microsecond,
	}
}
