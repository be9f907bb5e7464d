package pvesim

import (
	"fmt"
	"net/http"
	"strings"
)

// problem is an answer that is none of success.
type problem struct {
	status  int
	message string
	// fields has what is wrong with each parameter.
	fields map[string]string
	// bare answers have no body: those that are given before or beside the API, the
	// reason in the status line being all.
	bare bool
}

func (p *problem) Error() string { return fmt.Sprintf("%d %s", p.status, p.message) }

// refuse is the server's answer when code of it gives up: always status 500.
func refuse(format string, args ...any) error {
	return &problem{status: http.StatusInternalServerError, message: fmt.Sprintf(format, args...)}
}

// wrong is the answer to parameters that do not fit.
func wrong(fields map[string]string) error {
	return &problem{status: http.StatusBadRequest, message: "Parameter verification failed.", fields: fields}
}

// wrongParam is wrong of one parameter.
func wrongParam(name, format string, args ...any) error {
	return wrong(map[string]string{name: fmt.Sprintf(format, args...)})
}

// forbidden is the answer to a token without a privilege; several are alternatives.
func forbidden(path string, privileges ...string) error {
	return &problem{status: http.StatusForbidden, message: fmt.Sprintf("Permission check failed (%s, %s)", path, strings.Join(privileges, "|"))}
}

// errModified is the answer to a digest that is not the present one.
func errModified() error {
	return refuse("detected modified configuration - file changed by other user? Try again.")
}

// unchanged checks the digest that a request may carry.
func unchanged(c *call, present string) error {
	if given, ok := c.params["digest"]; ok && given != "" && given != present {
		return errModified()
	}
	return nil
}
