//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
)

// setText gives a set in nft's words, with everything that could make it act
// otherwise than ours.
func setText(s *nftables.Set) string {
	text := fmt.Sprintf("%s type %s", s.Name, s.KeyType.Name)
	if s.Interval {
		text += " flags interval"
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{s.Constant, "constant"}, {s.Anonymous, "anonymous"}, {s.IsMap, "map"}, {s.HasTimeout, "timeout"},
		{s.Dynamic, "dynamic"}, {s.Concatenation, "concatenation"}, {s.Size != 0, fmt.Sprintf("size %d", s.Size)},
	} {
		if flag.set {
			text += " " + flag.name
		}
	}
	return text
}

// elementTexts gives an interval set's ranges, ascending. nft may put an end
// element before the first start, which closes nothing.
func elementTexts(elements []nftables.SetElement) []string {
	sorted := slices.Clone(elements)
	slices.SortStableFunc(sorted, func(a, b nftables.SetElement) int {
		if c := bytes.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		// At one address a range ends before the next one starts.
		switch {
		case a.IntervalEnd == b.IntervalEnd:
			return 0
		case a.IntervalEnd:
			return -1
		}
		return 1
	})
	var out []string
	var open *nftables.SetElement
	for i := range sorted {
		e := &sorted[i]
		if !e.IntervalEnd {
			if open != nil {
				out = append(out, odd(open))
			}
			open = e
			continue
		}
		if open != nil {
			out = append(out, rangeText(open, e.Key))
			open = nil
		}
	}
	if open != nil {
		out = append(out, rangeText(open, nil))
	}
	return out
}

// rangeText gives the range from start up to before behind; nil behind is up to
// the last address.
func rangeText(start *nftables.SetElement, behind []byte) string {
	first, ok := addrOf(start.Key)
	last := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	if behind != nil {
		end, okEnd := addrOf(behind)
		last, ok = end.Prev(), ok && okEnd
	}
	if !ok || !last.IsValid() || start.Timeout != 0 || start.Expires != 0 {
		return odd(start)
	}
	if first == last {
		return first.String()
	}
	return first.String() + "-" + last.String()
}

// odd gives an element that no range of ours looks like.
func odd(e *nftables.SetElement) string {
	return fmt.Sprintf("[key %x timeout %s]", e.Key, e.Timeout)
}
