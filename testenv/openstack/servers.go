//go:build linux

package openstack

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"text/template"
)

//go:embed parts
var parts embed.FS

// servicePassword is that of the administrator, the service account and the
// databases: they live as long as the lab, and in it alone.
const servicePassword = "lab"

// pasteFile is the pipeline of filters that Debian's package brings with it.
const pasteFile = "/usr/lib/python3/dist-packages/neutron/tests/etc/api-paste.ini"

// server is an API at work. It has its listening socket from us, so that no port
// has to be guessed; who connects before it serves simply waits.
type server struct {
	*process
	url   string
	begin io.WriteCloser // its standard input, which awaits the database
}

// settings is what the templates of the configuration know.
type settings struct {
	Dir, Socket, Password, Paste, Identity   string
	TokenSeconds, TokenCacheSeconds, Workers int
}

// writeConfiguration renders one of parts into the lab's directory and gives its
// path.
func writeConfiguration(name string, s settings) (string, error) {
	t, err := template.ParseFS(parts, "parts/"+name)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, s); err != nil {
		return "", err
	}
	path := filepath.Join(s.Dir, name)
	return path, os.WriteFile(path, text.Bytes(), 0o600)
}

// listen takes a free port of the loopback interface.
func listen() (*net.TCPListener, string, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}

// startServer runs one of our scripts with a socket to serve on. The socket is the
// server's alone from then on: when it ends, connections are refused.
func (g *group) startServer(name string, socket *net.TCPListener, args ...string) (*server, error) {
	script, err := parts.ReadFile("parts/" + name + ".py")
	if err != nil {
		return nil, err
	}
	cmd, err := g.command(name, python, append([]string{"-c", string(script)}, args...)...)
	if err != nil {
		return nil, err
	}
	file, err := socket.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.ExtraFiles = []*os.File{file}
	begin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p, err := g.start(name, cmd)
	if err != nil {
		return nil, err
	}
	return &server{process: p, url: "http://" + socket.Addr().String(), begin: begin}, socket.Close()
}

// databaseReady lets the server begin.
func (s *server) databaseReady() error {
	if _, err := io.WriteString(s.begin, "\n"); err != nil {
		return fmt.Errorf("starting %s: %w", s.name, err)
	}
	return nil
}

// awaitServing waits for the first answer of the server, for as long as it lives.
func (s *server) awaitServing(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("starting %s: %w", s.name, err)
	}
	return response.Body.Close()
}

// startKeystone starts Keystone on a socket; url is its public address.
func startKeystone(g *group, socket *net.TCPListener, s settings) (*server, error) {
	for _, keys := range []string{"tokens", "receipts", "credentials"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, "keys", keys), 0o700); err != nil {
			return nil, err
		}
	}
	configuration, err := writeConfiguration("keystone.conf", s)
	if err != nil {
		return nil, err
	}
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	own, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return nil, err
	}
	return g.startServer("keystone", socket, configuration, u.Username, own.Name, s.Identity, servicePassword, Region)
}

// startNeutron starts Neutron on a socket.
func startNeutron(g *group, socket *net.TCPListener, s settings) (*server, error) {
	configuration, err := writeConfiguration("neutron.conf", s)
	if err != nil {
		return nil, err
	}
	if err := Policy(nil).write(s.Dir); err != nil {
		return nil, err
	}
	return g.startServer("neutron", socket, configuration)
}
