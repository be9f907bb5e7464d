package vm

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// The file types of cpio's mode field, as in stat(2).
const (
	cpioDirectory = 0o040000
	cpioRegular   = 0o100000
	cpioSymlink   = 0o120000
	// cpioLargest is the largest file the format can hold.
	cpioLargest = 1<<32 - 1
)

// archive collects the files of an initramfs. A later file replaces an earlier
// one of the same name.
type archive map[string]File

// add puts a file in, and the directories above it.
func (a archive) add(f File) {
	for dir := path.Dir(f.Name); dir != "/"; dir = path.Dir(dir) {
		if _, ok := a[dir]; !ok {
			a[dir] = File{Name: dir, Mode: fs.ModeDir | 0o755}
		}
	}
	a[f.Name] = f
}

// writeTo writes the archive in the format "newc", which the kernel unpacks
// (Documentation/driver-api/early-userspace/buffer-format.rst). Every file
// belongs to root and has no date, so equal files make equal archives.
func (a archive) writeTo(w io.Writer) error {
	out := &cpioWriter{w: bufio.NewWriterSize(w, 1<<20)}
	for i, name := range slices.SortedFunc(maps.Keys(a), a.order) {
		f := a[name]
		if len(f.Content) > cpioLargest {
			return fmt.Errorf("%s is too large for an initramfs", name)
		}
		out.entry(i+1, strings.TrimPrefix(name, "/"), cpioMode(f.Mode), f.Content)
	}
	out.entry(0, "TRAILER!!!", 0, nil)
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

// order puts directories before links and links before files: the kernel unpacks
// in the archive's order and a file's path may lead through a link.
func (a archive) order(x, y string) int {
	rank := func(name string) int {
		switch mode := a[name].Mode; {
		case mode.IsDir():
			return 0
		case mode&fs.ModeSymlink != 0:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x, y))
}

func cpioMode(mode fs.FileMode) uint32 {
	permissions := uint32(mode.Perm())
	switch {
	case mode.IsDir():
		return cpioDirectory | permissions
	case mode&fs.ModeSymlink != 0:
		return cpioSymlink | 0o777
	}
	return cpioRegular | permissions
}

// cpioWriter writes entries and remembers the first error.
type cpioWriter struct {
	w   *bufio.Writer
	n   int
	err error
}

// entry writes a header, the name and the content, each padded to four bytes.
func (c *cpioWriter) entry(inode int, name string, mode uint32, content []byte) {
	links := 1
	if mode&cpioDirectory == cpioDirectory {
		links = 2
	}
	// magic, inode, mode, uid, gid, links, mtime, size, four device numbers,
	// length of the name with its zero, checksum (unused)
	header := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		inode, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name)+1, 0)
	c.write([]byte(header))
	c.write([]byte(name + "\x00"))
	c.pad()
	c.write(content)
	c.pad()
}

func (c *cpioWriter) write(p []byte) {
	if c.err != nil {
		return
	}
	var n int
	n, c.err = c.w.Write(p)
	c.n += n
}

func (c *cpioWriter) pad() {
	c.write(make([]byte, (4-c.n%4)%4))
}
