//go:build !linux

package probe

// newRunner makes attempts as net.Dialer does.
func newRunner(s *Settings, finish finish) runner { return newCrew(dialer(s), finish) }
