//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of what the lab's programs leave
// behind, so that endOrphans finds it.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting the lab's orphans: %w", err)
	}
	return nil
}

// endOrphans kills every child of ours that lives in another mount namespace,
// and their children in turn: only processes of the lab do.
func endOrphans() error {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	for {
		orphans, err := childrenOutside(own)
		if err != nil || len(orphans) == 0 {
			return err
		}
		for _, pid := range orphans {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				return fmt.Errorf("ending the lab's process %d: %w", pid, err)
			}
			if _, err := unix.Wait4(pid, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return fmt.Errorf("waiting for the lab's process %d: %w", pid, err)
			}
		}
	}
}

// childrenOutside lists the living children of ours that are in another mount
// namespace than this one.
func childrenOutside(mount string) ([]int, error) {
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, err
	}
	var outside []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", file, err)
			}
			theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
			if err == nil && theirs != mount {
				outside = append(outside, pid)
			}
		}
	}
	return outside, nil
}
