package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxBytes is the largest cluster.yaml that is read.
const MaxBytes = 4 << 20

// maxItems bounds the lines and list entries of a file before it is parsed: a
// node takes some 250 bytes, and a plan of 5,000 machines has a third of this.
const maxItems = 150_000

// readBounded reads at most one byte more than parse will take, so that an
// endless file ends.
func readBounded(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, MaxBytes+1))
}

// advice is what to do about a file with nothing in it, and about one that is no
// map.
type advice struct{ empty, start string }

var clusterAdvice = advice{empty: "`homeward init` writes one to start from", start: "start with `name: ...`"}

// parse gives the root mapping of a cluster.yaml, within all limits.
func parse(data []byte) (*yaml.Node, *Located) { return parseFor(data, clusterAdvice) }

// parseFor gives the root mapping of a file, within all limits.
func parseFor(data []byte, to advice) (*yaml.Node, *Located) {
	if fault := refuseText(data); fault != nil {
		return nil, fault
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, whole(1, "the file is empty: "+to.empty)
	} else if err != nil {
		return nil, syntaxFault(data, err)
	}
	if fault := onlyEmpty(dec, data); fault != nil {
		return nil, fault
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	if fault := measure(root); fault != nil {
		return nil, fault
	}
	switch {
	case isNull(root):
		return nil, whole(1, "the file is empty: "+to.empty)
	case root.Kind != yaml.MappingNode:
		return nil, whole(root.Line, "the file is "+describe(root)+", not a map: "+to.start)
	}
	return root, nil
}

// onlyEmpty refuses a second document. One with nothing in it is none: some
// tools end every file with a "---".
func onlyEmpty(dec *yaml.Decoder, data []byte) *Located {
	for {
		var next yaml.Node
		err := dec.Decode(&next)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return syntaxFault(data, err)
		case len(next.Content) != 1 || !isNull(next.Content[0]) || next.Content[0].Value != "":
			return whole(next.Line, "a second YAML document starts here: give one document per file")
		}
	}
}

// refuseText refuses what is not worth parsing.
func refuseText(data []byte) *Located {
	if len(data) > MaxBytes {
		return whole(1, fmt.Sprintf("the file is over %d MiB: this is no cluster.yaml", MaxBytes>>20))
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return whole(1, "the file is UTF-16: save it as UTF-8")
	}
	if at := invalidUTF8(data); at >= 0 {
		return whole(lineAt(data, at), "the file is not UTF-8 text from here on")
	}
	if n := bytes.Count(data, []byte{'\n'}) + bytes.Count(data, []byte{','}); n > maxItems {
		return whole(1, fmt.Sprintf("the file has %d lines and list entries: at most %d are read", n, maxItems))
	}
	return nil
}

// invalidUTF8 gives the offset of the first byte that is no UTF-8, -1 for none.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

func lineAt(data []byte, at int) int {
	return 1 + bytes.Count(data[:min(at, len(data))], []byte{'\n'})
}

func whole(line int, message string) *Located {
	return &Located{Line: max(line, 1), Message: clean(message)}
}
