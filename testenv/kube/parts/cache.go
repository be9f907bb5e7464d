package parts

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// CacheVariable names the environment variable that moves the cache.
const CacheVariable = "HOMEWARD_KUBE_CACHE"

// CacheDir is where the programs are kept; it need not exist.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache: %w: set %s", err, CacheVariable)
	}
	return filepath.Join(dir, "homeward", "kube"), nil
}

// dir is the source's place in the cache. Another version or architecture is
// another place.
func (s source) dir(cache string) string {
	return filepath.Join(cache, fmt.Sprintf("%s-%s-%s", s.name, s.version, runtime.GOARCH))
}

// file is where a finished program lies.
func (s source) file(cache string, p program) string {
	return filepath.Join(s.dir(cache), "bin", p.name)
}

// lock keeps other processes from building into the cache until unlock. The
// kernel drops it when a process ends, however it ends.
func lock(cache string) (unlock func() error, err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the cache: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the cache: %w", err)
	}
	return f.Close, nil
}
