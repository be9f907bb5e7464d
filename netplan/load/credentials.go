package load

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// secretKeys is everything Homeward knows in a secrets.yaml. Other sections belong
// to other tools; in this one nothing else has a meaning.
var secretKeys = []key{
	{path: "proxmox", strict: true, required: true, doc: "The API token."},
	{path: "proxmox.token_id", kind: tokenID, required: true, example: exampleTokenID, doc: "Its name: user@realm!name."},
	{path: "proxmox.token_secret", kind: tokenSecret, required: true, doc: "Its secret, as the server printed it once."},
}

const exampleTokenID = "homeward@pve!homeward"

// tokenName is how the server writes a token's name.
var tokenName = regexp.MustCompile(`^[^\s:/@!=]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$`)

// credentialOf reads a credential and never repeats it.
func credentialOf(n *yaml.Node, k *key) (string, error) {
	if tag := n.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
		return "", fmt.Errorf("is %s: give text, in quotes", describe(n))
	}
	if k.kind == tokenID {
		return n.Value, checkTokenID(n.Value)
	}
	return n.Value, checkTokenSecret(n.Value)
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
	case strings.ContainsAny(s, " \t\r\n"):
		return errors.New("holds a space or a line's end: give the secret alone, on one line")
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("holds a character that no secret has: give it as the server printed it")
	case strings.Contains(s, "!"), strings.Contains(s, "="):
		return errors.New("holds more than the secret: give what stood beside \"value\" when the token was made")
	}
	return nil
}
