package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// streams are the process's three.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// linger asks for more time to clean up after a signal than a command has else;
	// nil where there is no process to end.
	linger func(time.Duration)
}

// tool is what every command shares.
type tool struct {
	streams
	// inherited are the streams as they came, for a program that takes them over.
	inherited streams
	verbose   bool
	logFormat string
	log       *slog.Logger
}

// run executes one command line and gives the exit code.
func run(ctx context.Context, args []string, s streams) int {
	out := &checkedWriter{to: s.out}
	t := &tool{streams: streams{in: s.in, out: out, err: s.err, linger: s.linger}, inherited: s}
	root := t.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the output: %w", out.err)
	}
	if err != nil && err.Error() != "" {
		t.complain(err)
	}
	return int(codeOf(err))
}

// checkedWriter remembers that something could not be written, for those who
// print and do not look.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// complain says once what went wrong, in the format of the log.
func (t *tool) complain(err error) {
	if t.log != nil && t.logFormat == "json" {
		t.log.Error(err.Error())
		return
	}
	fmt.Fprintf(t.err, "homeward: %v\n", err)
}

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "homeward",
		Short: "ingress addresses for Talos clusters with two NICs per machine",
		Long: `Homeward gives a Talos Linux cluster with two NICs per machine its ingress
addresses from one address plan. It checks cluster.yaml, reserves the addresses in
Proxmox, and writes what Talos, MetalLB, Traefik and Argo CD need so that every
reply leaves by the NIC its request came in by.

  homeward init > cluster.yaml                 a commented plan to fill in
  homeward plan -f cluster.yaml                check it, and show who gets what
  homeward reserve -f cluster.yaml             look for conflicts, then claim the addresses
  homeward generate -f cluster.yaml --out out  write every file
  homeward verify -f cluster.yaml              hold the living cluster against it
  homeward probe ADDRESS:PORT                  measure from a client that replies come home
  homeward report -f cluster.yaml              which failures this cluster survives`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return t.startLog() },
	}
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.PersistentFlags().BoolVarP(&t.verbose, "verbose", "v", false, "explain what is done and what is left alone")
	root.PersistentFlags().StringVar(&t.logFormat, "log-format", "text", "messages on standard error as text or json")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		t.initCommand(), t.planCommand(), t.generateCommand(), t.schemaCommand(),
		t.reserveCommand(), t.releaseCommand(), t.statusCommand(), t.proxmoxCommand(),
		t.verifyCommand(), t.probeCommand(), t.reportCommand(), t.imageCommand(), t.labCommand(), t.versionCommand(), exitCodesTopic(),
	)
	for _, cmd := range root.Commands() {
		if cmd.RunE != nil && cmd.Args == nil {
			cmd.Args = noArguments
		}
	}
	root.SetHelpCommand(helpCommand())
	root.Args = knownCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return root
}

// noArguments refuses what a command would silently ignore.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument, but got %q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// knownCommand refuses a command that does not exist, with the nearest one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := "see homeward --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return usage("no command %q: %s", args[0], hint)
}

// helpCommand is cobra's, but a topic that does not exist is a mistake.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("no help on %q: see homeward --help", strings.Join(args, " "))
			}
			return topic.Help()
		},
	}
}

func (t *tool) startLog() error {
	level := slog.LevelInfo
	if t.verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	switch t.logFormat {
	case "text":
		t.log = slog.New(&plainHandler{out: t.err, level: level})
	case "json":
		t.log = slog.New(slog.NewJSONHandler(t.err, options))
	default:
		return usage("--log-format %q is not known: give text or json", t.logFormat)
	}
	return nil
}

// plainHandler writes messages as an operator reads them: the level only when it
// is a warning or worse, then the message and its values, without a time.
type plainHandler struct {
	out   io.Writer
	level slog.Level
	attrs []slog.Attr
}

func (h *plainHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	if r.Level >= slog.LevelWarn {
		line = map[bool]string{true: "error: ", false: "warning: "}[r.Level >= slog.LevelError] + line
	}
	each := func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		each(a)
	}
	r.Attrs(each)
	_, err := fmt.Fprintln(h.out, line)
	return err
}

func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &plainHandler{out: h.out, level: h.level, attrs: append(append([]slog.Attr{}, h.attrs...), attrs...)}
}

func (h *plainHandler) WithGroup(string) slog.Handler { return h }
