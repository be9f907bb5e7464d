// Package render writes a report.Report: as Markdown, as JSON, and as one HTML page
// that stands alone, with a picture of the failure domains. What others named (hosts,
// services, probed targets) is escaped for each. The same report gives the same
// bytes.
package render

import (
	"encoding/json"
	"io"

	"homeward/cmd/homeward/internal/report"
)

// JSON writes the report's fields as they are documented in package report.
func JSON(w io.Writer, r report.Report) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}
