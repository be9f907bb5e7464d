package pvesim

import (
	"sync"
	"time"
)

// lockTable are the cluster-wide locks, as long as writes take time at all.
type lockTable struct {
	mu   sync.Mutex
	held map[string]bool
}

// take waits for a lock as the server does, by asking again and again; false when
// it gave up.
func (l *lockTable) take(name string, s *Sim) bool {
	if name == "" || s.options.Times.Write == 0 {
		return true
	}
	for waited := time.Duration(0); ; waited += s.options.Times.Poll {
		if l.try(name) {
			return true
		}
		if waited >= s.options.Times.GiveUp || s.options.Times.Poll <= 0 {
			return false
		}
		s.sleep(s.options.Times.Poll)
	}
}

func (l *lockTable) try(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[name] {
		return false
	}
	l.held[name] = true
	return true
}

func (l *lockTable) give(name string, s *Sim) {
	if name == "" || s.options.Times.Write == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, name)
}
