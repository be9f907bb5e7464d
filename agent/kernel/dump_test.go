//go:build linux

package kernel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"testing"

	"github.com/vishvananda/netlink"
)

func TestDumpNeverTakesAPartForTheWhole(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	tests := []struct {
		name        string
		interrupted int
		then        error
		want        error
	}{
		{"whole at once", 0, nil, nil},
		{"whole after interruptions", 3, nil, nil},
		{"interrupted for ever", 1000, nil, netlink.ErrDumpInterrupted},
		{"another error", 1, fs.ErrPermission, fs.ErrPermission},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			got, err := dump(context.Background(), quiet, "things", func() ([]int, error) {
				calls++
				if calls <= tt.interrupted {
					return []int{1}, netlink.ErrDumpInterrupted // a part
				}
				return []int{1, 2}, tt.then
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if err == nil && len(got) != 2 || err != nil && got != nil {
				t.Errorf("got %v with error %v", got, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dump(ctx, quiet, "things", func() ([]int, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
