package openstack

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"homeward/netplan"
)

// login is how to log in, and where the network's API is then looked for.
type login struct {
	auth     gophercloud.AuthOptions
	endpoint gophercloud.EndpointOpts
	tls      *tls.Config
}

// secrets are the texts that no message may repeat.
func (l login) secrets() []string {
	return []string{l.auth.Password, l.auth.Passcode, l.auth.ApplicationCredentialSecret, l.auth.TokenID}
}

// loginOf takes the plan's application credential, else the cloud that OS_CLOUD names
// in a clouds.yaml, else the environment's OS_*, as other clients read them.
func loginOf(a netplan.OpenStackAccess) (login, error) {
	var l login
	var err error
	switch {
	case a.CredentialID != "":
		l.endpoint.Region = os.Getenv("OS_REGION_NAME")
		l.auth = gophercloud.AuthOptions{ApplicationCredentialID: a.CredentialID, ApplicationCredentialSecret: a.CredentialSecret.Reveal()}
		l.endpoint.Availability = availability()
		l.tls, err = environmentCA()
	case os.Getenv("OS_CLOUD") != "":
		if l.auth, l.endpoint, l.tls, err = clouds.Parse(); err != nil {
			err = cloudsFault(err)
		}
	default:
		l, err = environmentLogin()
	}
	if err != nil {
		return login{}, err
	}
	if a.Region != "" {
		l.endpoint.Region = a.Region
	}
	l.auth.AllowReauth = true
	l.auth.IdentityEndpoint, err = keystone(a.URL, l.auth.IdentityEndpoint)
	return l, err
}

// cloudsFault says what is wrong with a clouds.yaml. A YAML library's words may repeat
// what stands in it.
func cloudsFault(err error) error {
	name := netplan.Quote(os.Getenv("OS_CLOUD"))
	if text := err.Error(); strings.Contains(text, "clouds.yaml") && !strings.Contains(text, "yaml: ") {
		return fmt.Errorf("OS_CLOUD is %s: %w", name, err)
	}
	return fmt.Errorf("OS_CLOUD is %s, and that cannot be read: clouds.yaml or secure.yaml has a fault, no cloud of that name, or names a profile or a file (cacert) that is not there", name)
}

// keystone is the one address of Keystone's, with its version: a server behind a proxy
// may name another one when it is asked for its versions.
func keystone(plan, other string) (string, error) {
	p, o := versioned(plan), versioned(other)
	switch {
	case p == "" && o == "":
		return "", errors.New("no address of Keystone: give openstack.url, or OS_AUTH_URL")
	case p != "" && o != "" && p != o:
		return "", fmt.Errorf("openstack.url is %s, and the credential of OS_CLOUD or OS_* is for %s: it must not go to another cloud; correct one of them", p, o)
	case p == "":
		p = o
	}
	u, err := url.Parse(p)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the address of Keystone is no URL of https without credentials in it: give it like https://openstack.example.edu:5000/v3")
	}
	return p, nil
}

func versioned(text string) string {
	text = strings.TrimRight(text, "/")
	if text == "" || strings.HasSuffix(text, "/v3") {
		return text
	}
	return text + "/v3"
}

// availability is which of a service's endpoints is asked.
func availability() gophercloud.Availability {
	switch strings.TrimSuffix(os.Getenv("OS_INTERFACE"), "URL") {
	case "internal":
		return gophercloud.AvailabilityInternal
	case "admin":
		return gophercloud.AvailabilityAdmin
	}
	return gophercloud.AvailabilityPublic
}

// environmentLogin reads OS_* as an openrc file sets them. The library's own reader
// wants OS_DOMAIN_*, which no openrc file has.
func environmentLogin() (login, error) {
	env := func(names ...string) string {
		for _, name := range names {
			if v := os.Getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	auth := gophercloud.AuthOptions{IdentityEndpoint: env("OS_AUTH_URL")}
	if secret := env("OS_APPLICATION_CREDENTIAL_SECRET"); secret != "" {
		auth.ApplicationCredentialSecret = secret
		auth.ApplicationCredentialID, auth.ApplicationCredentialName = env("OS_APPLICATION_CREDENTIAL_ID"), env("OS_APPLICATION_CREDENTIAL_NAME")
	} else {
		auth.Password = env("OS_PASSWORD")
		auth.Scope = &gophercloud.AuthScope{ProjectID: env("OS_PROJECT_ID", "OS_TENANT_ID")}
		if auth.Scope.ProjectID == "" {
			auth.Scope.ProjectName = env("OS_PROJECT_NAME", "OS_TENANT_NAME")
			auth.Scope.DomainID = env("OS_PROJECT_DOMAIN_ID", "OS_DOMAIN_ID")
			if auth.Scope.DomainID == "" {
				auth.Scope.DomainName = env("OS_PROJECT_DOMAIN_NAME", "OS_DOMAIN_NAME")
			}
		}
	}
	if auth.ApplicationCredentialID == "" {
		auth.UserID, auth.Username = env("OS_USER_ID", "OS_USERID"), env("OS_USERNAME")
		if auth.UserID == "" {
			auth.DomainID = env("OS_USER_DOMAIN_ID", "OS_DOMAIN_ID")
		}
		if auth.UserID == "" && auth.DomainID == "" {
			auth.DomainName = env("OS_USER_DOMAIN_NAME", "OS_DOMAIN_NAME")
		}
	}
	if err := halfCredential(auth, env); err != nil {
		return login{}, err
	}
	if auth.Password == "" && auth.ApplicationCredentialSecret == "" {
		return login{}, errors.New("no credential for OpenStack: give an application credential in secrets.yaml, as\nopenstack:\n  application_credential_id: ID\n  application_credential_secret: SECRET\n" +
			"or name a cloud of clouds.yaml by OS_CLOUD, or read an openrc file (OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and the project)")
	}
	config, err := environmentCA()
	return login{auth: auth, endpoint: gophercloud.EndpointOpts{Region: env("OS_REGION_NAME"), Availability: availability()}, tls: config}, err
}

// halfCredential says which half of a credential the environment lacks, nil where it
// has both or neither.
func halfCredential(auth gophercloud.AuthOptions, env func(...string) string) error {
	user := auth.UserID != "" || auth.Username != ""
	lacks := func(has, lacks string) error {
		return fmt.Errorf("%s is set, and %s is not: give both, or neither", has, lacks)
	}
	switch {
	case auth.ApplicationCredentialSecret != "" && auth.ApplicationCredentialID == "" && (auth.ApplicationCredentialName == "" || !user):
		return lacks("OS_APPLICATION_CREDENTIAL_SECRET", "OS_APPLICATION_CREDENTIAL_ID (a name instead of it takes OS_USERNAME and its domain too)")
	case auth.ApplicationCredentialSecret != "":
		return nil
	case env("OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME") != "" && auth.Password == "":
		return lacks("OS_APPLICATION_CREDENTIAL_ID or _NAME", "OS_APPLICATION_CREDENTIAL_SECRET")
	case auth.Password != "" && !user:
		return lacks("OS_PASSWORD", "OS_USERNAME")
	case auth.Password == "" && user:
		return lacks("OS_USERNAME", "OS_PASSWORD")
	}
	return nil
}

// environmentCA trusts the file of OS_CACERT; nil without one.
func environmentCA() (*tls.Config, error) {
	path := os.Getenv("OS_CACERT")
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading OS_CACERT: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading OS_CACERT: %s holds no certificate", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
