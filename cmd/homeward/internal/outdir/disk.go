package outdir

import (
	"io/fs"
	"os"
)

// disk is what a tree needs of a file system. Names are relative to the tree's
// top, with slashes. Tests give one that fails.
type disk interface {
	// Lstat does not follow a symbolic link.
	Lstat(name string) (fs.FileInfo, error)
	ReadFile(name string) ([]byte, error)
	// ReadDir is sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, perm fs.FileMode) error
	// Create makes a new file with this content; an existing name is an error.
	// After an error the file may be there.
	Create(name string, perm fs.FileMode, content []byte) error
	Rename(from, to string) error
	Remove(name string) error
}

// rooted is the disk below one directory; os.Root keeps every access inside it,
// whatever symbolic links appear meanwhile.
type rooted struct{ *os.Root }

func (r rooted) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(r.FS(), name)
}

func (r rooted) Create(name string, perm fs.FileMode, content []byte) error {
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
