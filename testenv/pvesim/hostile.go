package pvesim

import (
	"bytes"
	"net/http"
)

// hostile are answers that no Proxmox VE would give: what stands between may.
func hostile(f Fault) *outbound {
	out := &outbound{status: http.StatusOK, reason: "OK", header: http.Header{"Content-Type": {"application/json;charset=UTF-8"}}}
	switch f.Answer {
	case AnswerDrop:
		out.drop = true
	case AnswerHTML:
		out.header.Set("Content-Type", "text/html")
		out.body = []byte("<!DOCTYPE html><html><body><h1>It works!</h1></body></html>\n")
	case AnswerHuge:
		out.body = append(append([]byte(`{"data":"`), bytes.Repeat([]byte("A"), hugeSize)...), `"}`...)
	case AnswerWrongTypes:
		out.body = []byte(`{"data":[{"cidr":7,"comment":{"a":[]},"vmid":"x","digest":null,"node":[1],"type":false},17,null,"text"]}`)
	case AnswerRedirect:
		out.status, out.reason = http.StatusFound, "Found"
		out.header.Set("Location", f.Location)
	}
	return out
}
