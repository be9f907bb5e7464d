//go:build linux

package openstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// database is the MariaDB server of a lab. It listens on a socket in the lab's
// directory and on no port.
type database struct {
	group *group

	mu      sync.Mutex
	process *process // nil while it is killed
}

const (
	mariadbd = "/usr/sbin/mariadbd"
	// mariadbTables are the statements that Debian's mariadb-install-db feeds to a
	// new server; the script itself needs another package.
	mariadbTables = "/usr/share/mysql/mysql_system_tables.sql"
	mariadbData   = "/usr/share/mysql/mysql_system_tables_data.sql"
	// socketLimit is the size of sun_path in unix(7), with its last zero.
	socketLimit = 108
)

func databaseSocket(dir string) string { return filepath.Join(dir, "db.sock") }

// newDatabase makes an empty server in dir and starts it.
func newDatabase(ctx context.Context, g *group) (*database, error) {
	if socket := databaseSocket(g.dir); len(socket) >= socketLimit {
		return nil, fmt.Errorf("the lab's directory has too long a name for a socket: %s", g.dir)
	}
	if err := os.MkdirAll(filepath.Join(g.dir, "db"), 0o700); err != nil {
		return nil, err
	}
	statements := []byte("create database mysql;\nuse mysql;\nset @auth_root_socket=NULL;\n")
	for _, file := range []string{mariadbTables, mariadbData} {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading what a new database needs: %w", err)
		}
		statements = append(statements, text...)
	}
	cmd, err := g.command("mariadb", mariadbd, databaseArguments(g.dir, "--bootstrap", "--log-warnings=0")...)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(statements)
	bootstrap, err := g.start("mariadbd --bootstrap", cmd)
	if err != nil {
		return nil, err
	}
	if err := bootstrap.wait(ctx); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(g.dir, "accounts.sql"), []byte(databaseAccounts()), 0o600); err != nil {
		return nil, err
	}
	d := &database{group: g}
	return d, d.restart(ctx)
}

// kill ends the server at once; one that is not there is no error.
func (d *database) kill(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil {
		return nil
	}
	err := d.process.kill()
	d.process = nil
	return err
}

// restart starts a server that is not there; one that is there is no error.
func (d *database) restart(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process != nil {
		return nil
	}
	return d.start(ctx)
}

// databaseAccounts gives the two servers a database each, one statement a line.
func databaseAccounts() string {
	var text strings.Builder
	for _, name := range []string{"keystone", "neutron"} {
		fmt.Fprintf(&text, "create database if not exists %s character set utf8mb3;\n", name)
		fmt.Fprintf(&text, "grant all on %s.* to '%s'@'localhost' identified by '%s';\n", name, name, servicePassword)
	}
	return text.String()
}

// databaseArguments are those of every server on this data. A killed server loses
// nothing that it has confirmed: the kernel has it. Nothing is forced to the disk.
func databaseArguments(dir string, more ...string) []string {
	args := []string{"--no-defaults", "--basedir=/usr", "--datadir=" + filepath.Join(dir, "db"),
		"--innodb-log-file-size=16M", "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2"}
	if u, err := user.Current(); err == nil { // without the flag it refuses root
		args = append(args, "--user="+u.Username)
	}
	return append(args, more...)
}

// start starts the server and waits until it takes connections.
func (d *database) start(ctx context.Context) error {
	dir := d.group.dir
	cmd, err := d.group.command("mariadb", mariadbd, databaseArguments(dir, "--skip-networking",
		"--socket="+databaseSocket(dir), "--pid-file="+filepath.Join(dir, "db.pid"),
		"--character-set-server=utf8mb4", "--max-connections=300", "--innodb-buffer-pool-size=128M",
		"--performance-schema=0", "--init-file="+filepath.Join(dir, "accounts.sql"))...)
	if err != nil {
		return err
	}
	d.process, err = d.group.start("mariadbd", cmd)
	if err != nil {
		return err
	}
	return d.awaitReady(ctx)
}

// awaitReady waits for the server's greeting, which it sends when its init file
// is done.
func (d *database) awaitReady(ctx context.Context) error {
	for {
		err := greeting(databaseSocket(d.group.dir))
		if err == nil {
			return nil
		}
		select {
		case <-d.process.ended:
			return fmt.Errorf("starting mariadbd: it ended: %w", errors.Join(d.process.err, err))
		case <-ctx.Done():
			return fmt.Errorf("starting mariadbd: %w: %w", ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// greeting reads the first byte that the server says on a new connection.
func greeting(socket string) error {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}
