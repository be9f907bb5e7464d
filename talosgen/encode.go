package talosgen

import (
	"bytes"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"go.yaml.in/yaml/v4"
)

// stream collects the documents of one patch as YAML text. The first error
// stays and ends it.
type stream struct {
	buf bytes.Buffer
	err error
}

// add encodes one of machinery's documents, without the comments that machinery
// would explain every field with.
func (s *stream) add(doc config.Document) {
	text, err := encoder.NewEncoder(doc, encoder.WithComments(encoder.CommentsDisabled)).Encode()
	if err != nil {
		s.fail(doc.Kind(), err)
		return
	}
	s.text(text)
}

// value encodes a document that is declared here.
func (s *stream) value(kind string, v any) {
	text, err := yaml.Marshal(v)
	if err != nil {
		s.fail(kind, err)
		return
	}
	s.text(text)
}

// text takes documents that are encoded already.
func (s *stream) text(doc []byte) {
	if len(doc) == 0 {
		return
	}
	if s.buf.Len() > 0 {
		s.buf.WriteString("---\n")
	}
	s.buf.Write(doc)
}

func (s *stream) fail(kind string, err error) {
	if s.err == nil {
		s.err = fmt.Errorf("encoding %s: %w", kind, err)
	}
}

// bytes gives the text, or the first error.
func (s *stream) bytes() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.buf.Bytes(), nil
}
