//go:build linux

package openstack

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

//go:embed parts/keeper.py
var keeperScript string

// python is Debian's own interpreter: another one, earlier in PATH, does not find
// Debian's packages.
const python = "/usr/bin/python3"

// group is the process group of all servers of a lab. It ends with this process,
// however that ends.
type group struct {
	dir, logs string
	keeper    *exec.Cmd
	life      io.Closer     // its end is the group's end
	gone      *bufio.Reader // ends when the group is gone

	mu      sync.Mutex
	members []*process
}

// process is one server, or a program that prepares something for it.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

// newGroup starts the keeper of a group that has dir to itself: the directory goes
// with the group.
func newGroup(dir, logs string) (*group, error) {
	life, lifeEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	gone, goneEnd, err := os.Pipe()
	if err != nil {
		lifeEnd.Close()
		return nil, err
	}
	defer goneEnd.Close()
	keeper := exec.Command(python, "-c", keeperScript, dir)
	keeper.Stdin, keeper.Stdout, keeper.Stderr = life, goneEnd, os.Stderr
	keeper.Env = environment(dir)
	keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := keeper.Start(); err != nil {
		lifeEnd.Close()
		gone.Close()
		return nil, fmt.Errorf("starting the lab's keeper: %w", err)
	}
	g := &group{dir: dir, logs: logs, keeper: keeper, life: lifeEnd, gone: bufio.NewReader(gone)}
	goneEnd.Close()
	if _, err := g.gone.ReadString('\n'); err != nil {
		lifeEnd.Close()
		return nil, errors.Join(fmt.Errorf("starting the lab's keeper: %w", err), keeper.Wait())
	}
	return g, nil
}

// environment is what a server may know of this process's: nothing that could
// lead it to other servers, files or proxies.
func environment(dir string) []string {
	return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=" + dir, "TMPDIR=" + dir}
}

// command prepares a program of the group; its output goes to its log.
func (g *group) command(name, file string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(g.logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(file, args...)
	cmd.Dir, cmd.Env = g.dir, environment(g.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.keeper.Process.Pid}
	return cmd, nil
}

// start runs what command prepared, until it ends or the group does.
func (g *group) start(name string, cmd *exec.Cmd) (*process, error) {
	err := cmd.Start()
	cmd.Stdout.(*os.File).Close() // it has its own by now
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = cmd.Wait()
	}()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, p)
	return p, nil
}

// end kills the group and waits until nothing of it is left.
func (g *group) end() error {
	err := g.life.Close()
	if _, e := io.Copy(io.Discard, g.gone); e != nil {
		err = errors.Join(err, e)
	}
	_ = g.keeper.Wait() // killed, as meant
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.members {
		<-p.ended
	}
	return err
}

// wait gives the end of a program that is to end by itself.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s: %w", p.name, ctx.Err())
	}
	if p.err != nil {
		return fmt.Errorf("running %s: %w", p.name, p.err)
	}
	return nil
}

// kill ends a server with SIGKILL and waits for its end.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}
