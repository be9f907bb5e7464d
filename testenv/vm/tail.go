package vm

import (
	"bytes"
	"sync"
)

// tailSize is how much of a console is kept: some screens, enough for a panic.
const tailSize = 16 << 10

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String gives what was kept, with plain line ends.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ReplaceAll(t.text, []byte("\r\n"), []byte("\n")))
}
