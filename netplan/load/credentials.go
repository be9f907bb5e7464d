package load

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// secretTable is what Homeward knows in a secrets.yaml for one provider. Other
// sections belong to other tools, or are for another provider; in this one nothing
// else has a meaning.
type secretTable struct {
	// keys begin with the section.
	keys []key
	// what the file holds, and what both halves of it are.
	what, both string
	// advice is what to write into a file that is not one.
	advice advice
}

var proxmoxSecrets = secretTable{
	keys: []key{
		{path: "proxmox", strict: true, required: true, doc: "The API token."},
		{path: "proxmox.token_id", kind: tokenID, required: true, example: exampleTokenID, doc: "Its name: user@realm!name."},
		{path: "proxmox.token_secret", kind: tokenSecret, required: true, doc: "Its secret, as the server printed it once."},
	},
	what: "the token", both: "a token has an id and a secret",
	advice: advice{empty: "give proxmox with token_id and token_secret", start: "start with `proxmox:`"},
}

var openStackSecrets = secretTable{
	keys: []key{
		{path: "openstack", strict: true, doc: "The application credential."},
		{path: "openstack.application_credential_id", also: "openstack.credential_id", kind: credentialID, required: true, doc: "Its id."},
		{path: "openstack.application_credential_secret", also: "openstack.credential_secret", kind: credentialSecret, required: true, doc: "Its secret, as the server printed it once."},
	},
	what: "the application credential", both: "an application credential has an id and a secret",
	advice: advice{empty: "give openstack with application_credential_id and application_credential_secret", start: "start with `openstack:`"},
}

const exampleTokenID = "homeward@pve!homeward"

// tokenName is how the server writes a token's name.
var tokenName = regexp.MustCompile(`^[^\s:/@!=]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$`)

// credentialOf reads a credential and never repeats it.
func credentialOf(n *yaml.Node, k *key) (string, error) {
	if tag := n.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
		return "", fmt.Errorf("is %s: give text, in quotes", describe(n))
	}
	check := map[kind]func(string) error{
		tokenID: checkTokenID, tokenSecret: checkTokenSecret, credentialID: checkCredentialID, credentialSecret: checkCredentialSecret,
	}[k.kind]
	return n.Value, check(n.Value)
}

// checkTokenID does not repeat the text: it may be the secret, given in the wrong
// place.
func checkTokenID(s string) error {
	const like = "give it like " + exampleTokenID
	switch {
	case s == "":
		return errors.New("is an empty text: " + like)
	case strings.HasPrefix(s, "PVEAPIToken"), strings.Contains(s, "="):
		return errors.New("holds more than the token's name: " + like + ", and the secret as token_secret")
	case !strings.Contains(s, "!"):
		return errors.New("is not a token's name, for it has no !: " + like)
	case !strings.Contains(s, "@"):
		return errors.New("is not a token's name, for it has no realm: " + like)
	case !tokenName.MatchString(s):
		return errors.New("is not a token's name (user@realm!name): " + like)
	}
	return nil
}

func checkTokenSecret(s string) error {
	switch {
	case s == "":
		return errors.New("is an empty text: give the token's secret")
	case checkPrinted(s) != nil:
		return checkPrinted(s)
	case strings.Contains(s, "!"), strings.Contains(s, "="):
		return errors.New("holds more than the secret: give what stood beside \"value\" when the token was made")
	}
	return nil
}

// checkPrinted refuses what no server prints as a secret.
func checkPrinted(s string) error {
	switch {
	case strings.ContainsAny(s, " \t\r\n"):
		return errors.New("holds a space or a line's end: give the secret alone, on one line")
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("holds a character that no secret has: give it as the server printed it")
	}
	return nil
}

// keystoneID is how Keystone makes the ids of application credentials.
var keystoneID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// checkCredentialID does not repeat the text: it may be the secret.
func checkCredentialID(s string) error {
	if !keystoneID.MatchString(s) {
		return errors.New("is not the id of an application credential: give the 32 hexadecimal digits, not its name (openstack application credential list)")
	}
	return nil
}

func checkCredentialSecret(s string) error {
	if s == "" {
		return errors.New("is an empty text: give the application credential's secret")
	}
	return checkPrinted(s)
}
