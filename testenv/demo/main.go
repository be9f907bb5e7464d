// Command demo shows Homeward's main job on the example plan, without Proxmox and
// without a cluster: it plans, generates, completes machine configs from a base
// that Talos's own generator makes, has the results judged by the code that will
// read them, and lets replies come home in network namespaces. It prints what it
// does and where to look.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	tool := flag.String("homeward", "bin/homeward", "the tool to show")
	out := flag.String("out", "out", "the directory to write to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d := &demo{ctx: ctx, tool: *tool, out: *out}
	if err := d.run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is one showing.
type demo struct {
	ctx       context.Context
	tool, out string
}

func (d *demo) run() error {
	plan := filepath.Join(d.out, "cluster.yaml")
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	d.say("The example plan, as `homeward init` prints it: %s", plan)
	text, err := d.command("init").Output()
	if err != nil {
		return fmt.Errorf("homeward init: %w", err)
	}
	if err := os.WriteFile(plan, text, 0o644); err != nil {
		return err
	}
	d.say("What follows from it: who gets which address")
	if err := d.show("plan", "-f", plan); err != nil {
		return err
	}
	secrets, err := os.MkdirTemp("", "homeward-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(secrets)
	d.say("Base configs of a new cluster, made by Talos's own generator")
	bases, err := writeBases(secrets, filepath.Join(d.out, "cluster.yaml"))
	if err != nil {
		return err
	}
	d.say("Every file that the plan needs, and complete machine configs")
	if err := d.show("generate", "-v", "-f", plan, "--out", d.out, "--base", bases); err != nil {
		return err
	}
	d.say("What Talos and Kubernetes say of them")
	if err := d.judge(); err != nil {
		return err
	}
	d.say("Replies coming home, in network namespaces of its own")
	return d.lab()
}

// lab shows the return path on the wire. Where namespaces are forbidden it says so
// and goes on: the rest needs none.
func (d *demo) lab() error {
	drawing := filepath.Join(d.out, "replies.svg")
	args := []string{"lab", "demo", "--without-shell", "--plot", drawing}
	fmt.Printf("$ homeward %s\n", strings.Join(args, " "))
	var complaints bytes.Buffer
	cmd := d.command(args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, &complaints)
	err := cmd.Run()
	if err != nil && strings.Contains(complaints.String(), "does not let the lab make its namespaces") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("homeward lab demo: %w", err)
	}
	fmt.Printf("\nThe same as a drawing: %s. `homeward lab demo` compares with a shell loop too.\n", drawing)
	return nil
}

func (d *demo) say(format string, args ...any) {
	fmt.Printf("\n== "+format+"\n", args...)
}

func (d *demo) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.ctx, d.tool, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// show runs a command where the reader sees it.
func (d *demo) show(args ...string) error {
	fmt.Printf("$ homeward %s\n", strings.Join(args, " "))
	cmd := d.command(args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("homeward %s: %w", args[0], err)
	}
	return nil
}
