package render

import (
	"strings"

	"homeward/cmd/homeward/internal/report"
)

// word says an effect to a reader.
func word(e report.Effect) string {
	switch e {
	case report.Absent:
		return "-"
	case report.Moves:
		return "interrupted"
	}
	return string(e)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func orOther(s string) string {
	if s == "" {
		return "nothing of this plan"
	}
	return s
}

// takes says what a single point takes down.
func takes(p report.SinglePoint) string {
	if len(p.Takes) == 0 {
		return "takes no traffic"
	}
	named := map[string]string{"ingress": "the pool", "api": "the API", "config": "new addresses"}
	var list []string
	for _, t := range p.Takes {
		list = append(list, named[t])
	}
	return "takes " + strings.Join(list, ", ")
}

// basis names what a report rests on.
func basis(r report.Report) string {
	if r.Sources.Proxmox.State == report.SourceNotRead && r.Sources.Kubernetes.State == report.SourceNotRead {
		return "the plan alone (neither Proxmox nor Kubernetes was read)"
	}
	text := "the plan"
	for _, s := range []struct {
		source report.Source
		read   string
		not    string
	}{
		{r.Sources.Proxmox, "what Proxmox says", "Proxmox"},
		{r.Sources.Kubernetes, "what Kubernetes says", "Kubernetes"},
	} {
		switch s.source.State {
		case report.SourceRead:
			text += ", " + s.read
		case report.SourcePartial:
			text += ", " + s.read + " (not all of it could be read: " + strings.Join(s.source.Detail, "; ") + ")"
		case report.SourceFailed:
			text += " (" + s.not + " could not be read: " + strings.Join(s.source.Detail, "; ") + ")"
		case report.SourceNotRead:
			text += " (" + s.not + " was not read)"
		}
	}
	return text
}

// orOut shows the value of an edit.
func orOut(value string) string {
	if value == "" {
		return "(take it out)"
	}
	return value
}
