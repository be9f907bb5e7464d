package openstack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"homeward/agent/ledger"
)

// Error is a request that failed. errors.Is finds one of ledger's errors in it where
// the outcome is one of them, and the context's error where that ended it. A read is
// never ledger.ErrUnknown: nothing depends on it.
type Error struct {
	Method, Path string
	// Status is the HTTP status; zero when no answer came.
	Status int
	// Type is Neutron's name for the error, "OverQuota"; empty when it gave none.
	Type string
	// Message is the server's, in one line without control characters or secrets, at
	// most 300 bytes; empty when it gave none.
	Message string

	class error // one of ledger's errors, or nil
	cause error // what happened on the way, or nil
	hint  string
	// settled says that to ask again brings the same answer.
	settled bool
	// retryAfter is how long the server asks to wait; zero where it does not.
	retryAfter time.Duration
}

// Error says what was asked, what happened, and what an operator can do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", e.Method, e.Path)
	switch {
	case e.Status != 0:
		fmt.Fprintf(&b, "the server answered %d", e.Status)
		if e.Type != "" {
			b.WriteString(" " + e.Type)
		}
		if e.Message != "" {
			b.WriteString(" (" + e.Message + ")")
		}
		if e.cause != nil {
			fmt.Fprintf(&b, ": %v", e.cause)
		}
	case e.cause != nil:
		b.WriteString(e.cause.Error())
	}
	if e.hint != "" {
		b.WriteString(": " + e.hint)
	}
	if errors.Is(e.class, ledger.ErrUnknown) {
		b.WriteString(" (whether it was done is unknown)")
	}
	return b.String()
}

// Unwrap gives the class and the cause.
func (e *Error) Unwrap() []error {
	var list []error
	for _, err := range []error{e.class, e.cause} {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

const typeOverQuota = "OverQuota"

// saying is what one of Neutron's types means.
type saying struct {
	class error
	hint  string
}

// full says that a subnet has no address left.
func full(typ string) bool {
	switch typ {
	case "IpAddressGenerationFailure", "IpAddressGenerationFailureNoMatching", "ExternalIpAddressExhausted":
		return true
	}
	return false
}

// types are those that decide something; each stands in Neutron's code (neutron-lib's
// exceptions, and l3_exceptions, securitygroup, allowedaddresspairs there).
var types = map[string]saying{
	typeOverQuota: {ledger.ErrRefused, ""},

	// Somebody, perhaps we, was faster.
	"IpAddressAlreadyAllocated":       {ledger.ErrTaken, ""},
	"IpAddressInUse":                  {ledger.ErrTaken, ""},
	"MacAddressInUse":                 {ledger.ErrTaken, ""},
	"SecurityGroupRuleExists":         {ledger.ErrTaken, ""},
	"FloatingIPPortAlreadyAssociated": {ledger.ErrTaken, ""},
	"PortInUse":                       {ledger.ErrTaken, ""},
	"RouterPortInUse":                 {ledger.ErrTaken, ""},

	// Something hangs on it, perhaps what we are about to remove.
	"NetworkInUse":                           {ledger.ErrTaken, ""},
	"SubnetInUse":                            {ledger.ErrTaken, ""},
	"RouterInUse":                            {ledger.ErrTaken, ""},
	"SecurityGroupInUse":                     {ledger.ErrTaken, ""},
	"RouterInterfaceInUseByFloatingIP":       {ledger.ErrTaken, ""},
	"RouterInterfaceInUseByRoute":            {ledger.ErrTaken, "a route of that router leads through it"},
	"RouterExternalGatewayInUseByFloatingIp": {ledger.ErrTaken, ""},
	"ServicePortInUse":                       {ledger.ErrTaken, ""},
	"L3PortInUse":                            {ledger.ErrTaken, ""},

	"RevisionNumberConstraintFailed": {ledger.ErrStale, ""},
	// The router's interface is not there, or not there yet.
	"ExternalGatewayForFloatingIPNotFound": {ledger.ErrGone, ""},

	"AllowedAddressPairExhausted":                {ledger.ErrRefused, "the port has as many pairs as the cloud allows: take away one of those that others put there, or have an administrator raise max_allowed_address_pair"},
	"AddressPairAndPortSecurityRequired":         {ledger.ErrRefused, portSecurity},
	"PortSecurityAndIPRequiredForSecurityGroups": {ledger.ErrRefused, portSecurity},
	"SecurityGroupDefaultAlreadyExists":          {ledger.ErrRefused, "no group of ours can have that name: give the cluster another one"},
	"PolicyNotAuthorized":                        {ledger.ErrRefused, "the cloud's policy does not let this user do it: the role member in the project does by default"},
}

// ruleOfMAC is the rule of Neutron's policy for a MAC address of our choice.
const ruleOfMAC = "create_port:mac_address"

const portSecurity = "the network has no port security, and without it there are neither security groups nor pairs"

// words are in messages of types that say nothing by themselves.
var words = []struct{ text, typ string }{
	{"overlaps with another subnet", "InvalidInput"},
	{"already has a port on subnet", "BadRequest"},
}

// judge sets class and hint by what the server answered.
func (e *Error) judge() {
	s, known := types[e.Type]
	switch {
	case full(e.Type):
		e.class, e.hint = ledger.ErrRefused, e.exhausted()
	case known:
		e.class, e.hint = s.class, s.hint
		if strings.Contains(e.Message, ruleOfMAC) {
			e.hint = "the cloud's policy lets no member choose a port's MAC address, and without one a port could be made twice: ask its administrator for " + ruleOfMAC + ", which Neutron allows to the owner of the network by default"
		}
	case e.saysTaken():
		e.class = ledger.ErrTaken
	case e.Status == http.StatusUnauthorized:
		e.class, e.hint = ledger.ErrRefused, "it does not take the credential: look at its id, its secret and its date of expiry, and whether it belongs to this cloud"
	case e.Status == http.StatusNotFound && strings.HasSuffix(e.Path, "/"+tokenPath):
		e.class, e.hint = ledger.ErrRefused, "look at the id of the credential, and whether openstack.url is Keystone's own address, like https://openstack.example.edu:5000/v3"
	case e.Status == http.StatusNotFound:
		e.class = ledger.ErrGone
	case e.overlaps():
		// Of the plan's making, or of a second network of ours that came late: that one
		// is seen when it is read again.
		e.class, e.hint = ledger.ErrTaken, "network.cidr overlaps a network that the router leads to, external_net among them"
	case e.Status == http.StatusPreconditionFailed, e.Status == http.StatusConflict:
		e.class = ledger.ErrStale
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusRequestEntityTooLarge:
		e.class, e.hint = ledger.ErrBusy, "too many requests: try again later"
	case e.Status >= 300 && e.Status < 500 && e.Status != http.StatusRequestTimeout, e.Status == http.StatusNotImplemented:
		e.class = ledger.ErrRefused
	default:
		e.class = ledger.ErrUnknown
	}
	e.forgive()
}

func (e *Error) saysTaken() bool {
	for _, w := range words {
		if e.Type == w.typ && strings.Contains(e.Message, w.text) {
			return true
		}
	}
	return false
}

// overlaps says that a router leads to a network already that has the same addresses.
func (e *Error) overlaps() bool {
	return e.Type == "BadRequest" && strings.Contains(e.Message, "overlaps with")
}

// exhausted says where no address is left.
func (e *Error) exhausted() string {
	if strings.HasSuffix(e.Path, "/ports") {
		return "network.cidr has no address left: remove ports that are not needed, or take the machines down, release, and reserve with a larger one"
	}
	return "the external network has no address left: give one back that nobody uses (openstack floating ip list), name one that the project has already (openstack.ingress_floating_ip, openstack.kubeapi_floating_ip), or ask an administrator for more"
}

// forgive takes the unknown from a read.
func (e *Error) forgive() {
	if e.Method == http.MethodGet && errors.Is(e.class, ledger.ErrUnknown) {
		e.class = nil
	}
}
