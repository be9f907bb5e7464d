package pvefs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"homeward/netplan"
)

// The largest files that are read, in bytes. Proxmox's own file system takes no
// more than 1 MiB a file.
const (
	maxFile = 4 << 20
	maxConf = 1 << 20 // a guest's
)

// readers is how many files are read at once: each read of /etc/pve is answered by
// another process.
const readers = 8

// rootFS is a directory out of which no link leads. A sub-directory is opened once,
// for each of its files would else be looked up from the top.
type rootFS struct {
	fs.FS
	root *os.Root
}

func openRoot(dir string) (rootFS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return rootFS{}, err
	}
	return rootFS{root.FS(), root}, nil
}

// Sub implements fs.SubFS. What it gives is to be closed.
func (r rootFS) Sub(dir string) (fs.FS, error) {
	root, err := r.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return rootFS{root.FS(), root}, nil
}

// Lstat and ReadLink implement fs.ReadLinkFS.
func (r rootFS) Lstat(name string) (fs.FileInfo, error) { return r.root.Lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (r rootFS) ReadLink(name string) (string, error) { return r.root.Readlink(name) }

// Close implements io.Closer.
func (r rootFS) Close() error { return r.root.Close() }

// listed is a directory with what is in it.
type listed struct {
	fs.FS
	entries []fs.DirEntry
}

// list opens a directory that is to be closed.
func list(fsys fs.FS, dir string) (listed, error) {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return listed{}, err
	}
	l := listed{FS: sub}
	if l.entries, err = fs.ReadDir(sub, "."); err != nil {
		l.close()
		return listed{}, err
	}
	return l, nil
}

func (l listed) close() {
	if c, ok := l.FS.(io.Closer); ok {
		c.Close() // read only, so there is nothing to lose
	}
}

// read reads one regular file of at most limit bytes.
func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	return readKind(fsys, name, info.Mode(), limit)
}

// readKind reads a file whose kind is known from the directory.
func readKind(fsys fs.FS, name string, kind fs.FileMode, limit int64) ([]byte, error) {
	if !kind.IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", netplan.Quote(name))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", netplan.Quote(name), limit)
	}
	return b, nil
}

// each works on the items of a list, several at once.
func each[T any](items []T, work func(*T)) {
	var wait sync.WaitGroup
	next := make(chan *T)
	for range min(readers, len(items)) {
		wait.Go(func() {
			for item := range next {
				work(item)
			}
		})
	}
	for i := range items {
		next <- &items[i]
	}
	close(next)
	wait.Wait()
}
