package render

import (
	"fmt"

	"homeward/cmd/homeward/internal/report"
)

// tagged is a short statement with its colour.
type tagged struct{ class, text string }

// tagsOf says what the loss of a host leaves, the most important first.
func tagsOf(h report.Host, unknown bool) []tagged {
	if unknown {
		return []tagged{{"unsure", "share a host? unknown"}}
	}
	var list []tagged
	l := h.Loss
	if l.ControlPlanes > 0 {
		text := fmt.Sprintf("etcd %d of %d left", l.Etcd.There, l.Etcd.Members)
		switch l.Quorum {
		case report.NotKept:
			list = append(list, tagged{"bad", text + ": no quorum"})
		case report.Unforeseen:
			list = append(list, tagged{"unsure", text + ", or fewer"})
		default:
			list = append(list, tagged{"good", text})
		}
	}
	if l.Announcers > 0 {
		class := map[report.Effect]string{report.Lost: "bad", report.Unknown: "unsure"}[l.Ingress]
		if class == "" {
			class = "good"
		}
		word := "announcers left"
		if l.AnnouncersLeft == 1 {
			word = "announcer left"
		}
		list = append(list, tagged{class, fmt.Sprintf("%d %s", l.AnnouncersLeft, word)})
	}
	if h.Offline {
		list = append(list, tagged{"bad", "offline now"})
	}
	if len(list) == 0 {
		list = append(list, tagged{"good", "no etcd, no announcer"})
	}
	return list
}

// effectClass colours an effect.
func effectClass(e report.Effect) string {
	switch e {
	case report.Lost:
		return "bad"
	case report.Unknown:
		return "unsure"
	case report.Moves:
		return "moves"
	case report.Stays:
		return "good"
	}
	return "absent"
}
