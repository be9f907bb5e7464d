package probe

import "time"

// maxBins is how many bins a timeline has at most. When they are full, pairs are
// merged and each is twice as wide.
const maxBins = 1024

// Bin is what happened in a part of a run.
type Bin struct {
	Answered, Failed, Unknown uint32
	// Fastest and Slowest are times of the attempts that were answered.
	Fastest, Slowest time.Duration
}

// Timeline is a run in bins of equal width, from its start.
type Timeline struct {
	Width time.Duration
	Bins  []Bin
}

// add counts an attempt that began at a time since the start of the run.
func (t *Timeline) add(start time.Duration, r *result) {
	at := int(start / t.Width)
	for at >= maxBins {
		t.halve()
		at = int(start / t.Width)
	}
	for at >= len(t.Bins) {
		t.Bins = append(t.Bins, Bin{})
	}
	t.Bins[at].add(r)
}

func (b *Bin) add(r *result) {
	switch r.verdict {
	case failed:
		b.Failed++
	case unknown:
		b.Unknown++
	case answered:
		took := max(r.connect, r.answer)
		if b.Answered == 0 || took < b.Fastest {
			b.Fastest = took
		}
		b.Slowest = max(b.Slowest, took)
		b.Answered++
	}
}

// halve merges pairs of bins.
func (t *Timeline) halve() {
	t.Width *= 2
	for i := range (len(t.Bins) + 1) / 2 {
		merged := t.Bins[2*i]
		if 2*i+1 < len(t.Bins) {
			merged.merge(t.Bins[2*i+1])
		}
		t.Bins[i] = merged
	}
	t.Bins = t.Bins[:(len(t.Bins)+1)/2]
}

func (b *Bin) merge(other Bin) {
	if other.Answered > 0 && (b.Answered == 0 || other.Fastest < b.Fastest) {
		b.Fastest = other.Fastest
	}
	b.Slowest = max(b.Slowest, other.Slowest)
	b.Answered += other.Answered
	b.Failed += other.Failed
	b.Unknown += other.Unknown
}
