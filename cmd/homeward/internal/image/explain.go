package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// passing says that the same push may well succeed in a moment. A refusal, a
// certificate, a name or an address that is wrong will not change.
func passing(err error) bool {
	var answer *transport.Error
	if errors.As(err, &answer) {
		switch answer.StatusCode {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, 499:
			return true
		}
		return answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented
	}
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case certificate(err) != "", errors.Is(err, errPlain), errors.Is(err, http.ErrSchemeMismatch),
		errors.As(err, &record), errors.As(err, &alert), errors.Is(err, syscall.ECONNREFUSED):
		return false
	case errors.As(err, &dns):
		return dns.IsTemporary || dns.IsTimeout
	}
	return true
}

// circumstances are what an error alone does not tell.
type circumstances struct {
	ref       Reference
	anonymous bool
	plain     bool
}

// explain turns what a push met into what to do about it. No answer of the token
// service and no part of a request that may hold a secret gets into the text.
func explain(ctx context.Context, err error, c circumstances) error {
	host := c.ref.Registry()
	var answer *transport.Error
	var dns *net.DNSError
	why := certificate(err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted while pushing %s: %w", c.ref, ctx.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("pushing %s took longer than --timeout allows: %w", c.ref, ctx.Err())
	case errors.As(err, &answer):
		return refusal(answer, c)
	case why != "":
		return fmt.Errorf("%s: %s", host, why)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s refuses the connection: is the registry up, and the port right? %w", host, syscall.ECONNREFUSED)
	case errors.As(err, &dns):
		return fmt.Errorf("the name of registry %s is not known: check it and the DNS server: %w", host, dns)
	case errors.Is(err, errPlain), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s does not speak TLS: give it a certificate, or in a lab --plain-http", host)
	}
	return fmt.Errorf("pushing %s: %s", c.ref, harmless(err))
}

// harmless is an error's text without an answer of a token service.
func harmless(err error) string {
	text, _, cut := strings.Cut(err.Error(), "no token in bearer response")
	if cut {
		text += "the token service gave no token"
	}
	return text
}

// certificate says what is wrong with the server's certificate and which way out
// there is; empty when that is not what failed.
func certificate(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that this machine does not know: give that authority's certificate with --ca-file FILE.pem"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for another name (%v): use the name that it is for", name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("its certificate is not valid now: renew it, or set this machine's clock (%v)", invalid)
	case errors.As(err, &invalid):
		return fmt.Sprintf("its certificate cannot be used: %v", invalid)
	}
	return ""
}

// refusal explains an answer that is no success.
func refusal(answer *transport.Error, c circumstances) error {
	host, repository := c.ref.Registry(), c.ref.tag.RepositoryStr()
	login := fmt.Sprintf("`docker login %s` or `podman login %s`", host, host)
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		switch {
		case c.anonymous:
			return fmt.Errorf("%s wants a login (%d), and there is none for it in the docker or podman configuration: run %s", host, answer.StatusCode, login)
		case answer.StatusCode == http.StatusUnauthorized:
			return fmt.Errorf("%s does not accept the login that the docker or podman configuration has for it (401): run %s again, with an account that may push to %s", host, login, repository)
		}
		return fmt.Errorf("%s accepts the login, but it may not push to %s (403): ask for the right to push, or run %s with another account", host, repository, login)
	case http.StatusNotFound:
		return fmt.Errorf("%s has no %s (404): create the repository or its project there, or correct the name: %s", host, repository, said(answer))
	case http.StatusBadRequest:
		if c.plain && len(answer.Errors) == 0 {
			return fmt.Errorf("%s does not take this request (400): if it speaks TLS, leave --plain-http away", host)
		}
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%s, or a proxy before it, does not take a layer of this size (413): raise its limit", host)
	}
	return fmt.Errorf("%s refused the push: %s", host, said(answer))
}

// said is the server's own word, from its structured errors only: a page of HTML
// explains nothing.
func said(answer *transport.Error) string {
	text := fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	for _, e := range answer.Errors {
		text += fmt.Sprintf("; %s: %s", e.Code, e.Message)
	}
	return text
}
