package returnpath

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"homeward/netplan"
)

func TestLogIsBounded(t *testing.T) {
	k := newNode()
	a, clock := newAgent(t, k, testSettings(), time.Minute)
	var log bytes.Buffer
	a.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	a.Pass(context.Background())
	for range 100 {
		k.table = netplan.TableListing{}
		a.Pass(context.Background())
	}
	if n := strings.Count(log.String(), "changed the node"); n != logSteps {
		t.Errorf("%d changes named, want %d", n, logSteps)
	}
	clock.advance(logWindow)
	k.table = netplan.TableListing{}
	a.Pass(context.Background())
	if !strings.Contains(log.String(), "more_changes=87") {
		t.Errorf("the rest is not counted:\n%s", log.String()[log.Len()-200:])
	}
}

func TestLogSaysAProblemOnce(t *testing.T) {
	k, _ := converged(t, testSettings())
	a, _ := newAgent(t, k, testSettings(), time.Minute)
	var log bytes.Buffer
	a.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	k.links = k.links[:2]
	for range 3 {
		a.Pass(context.Background())
	}
	if n := strings.Count(log.String(), "external NIC not found"); n != 1 {
		t.Errorf("said %d times", n)
	}
	k.links = append(k.links, extLink)
	a.Pass(context.Background())
	if !strings.Contains(log.String(), "the node is as it shall be") {
		t.Error("not said that it is well again")
	}
}
