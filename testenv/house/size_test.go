package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// The bounds of a file that has one idea, and of a function that can be read.
const (
	maxFileLines     = 300
	maxFunctionLines = 60
)

func TestHouseSizes(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if n := set.Position(file.FileEnd).Line; n > maxFileLines {
				t.Errorf("%s/%s has %d lines, more than %d: two ideas?", p.room(), name, n, maxFileLines)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > maxFunctionLines {
					t.Errorf("%s/%s: %s has %d lines, more than %d", p.room(), name, f.Name.Name, n, maxFunctionLines)
				}
			}
		}
	}
}
