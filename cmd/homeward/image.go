package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"

	"homeward/cmd/homeward/internal/image"
)

// imageCommand is `homeward image`, the agent's OCI image.
func (t *tool) imageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "make the agent's OCI image, and push it to a registry",
		Long: `Make the OCI image of homeward-agent for linux/amd64 and linux/arm64, and push
it to a registry. No container engine is needed. The same binaries give the same
digest everywhere.

The binaries are those that make build puts beside this tool, or those of
--binary.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(t.imageBuildCommand(), t.imagePushCommand())
	return cmd
}

func binaryFlag(cmd *cobra.Command, binaries *[]string) {
	cmd.Flags().StringArrayVar(binaries, "binary", nil, "the agent's binary, as PATH or linux/amd64=PATH; once for each platform")
}

func (t *tool) imageBuildCommand() *cobra.Command {
	var binaries []string
	var output, tag string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "write the image to a directory or an archive",
		Long: `Write the image as an OCI layout directory, or as an archive when --output ends
in .tar; "ctr images import" and "docker load" take the archive. Standard output
is the reference for agent.image.`,
		Example: `  homeward image build --output homeward-agent.tar --tag registry.example.edu/homeward-agent:v1`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return imageError(t.imageBuild(binaries, output, tag))
		},
	}
	binaryFlag(cmd, &binaries)
	cmd.Flags().StringVar(&output, "output", "", "the directory, or the file ending in .tar, to write")
	cmd.Flags().StringVar(&tag, "tag", "", "the image's name inside, as REGISTRY/NAME:TAG")
	return cmd
}

func (t *tool) imageBuild(binaries []string, output, tag string) error {
	if output == "" {
		return usage("--output is missing: name a directory, or a file that ends in .tar")
	}
	var ref image.Reference
	if tag != "" {
		var err error
		if ref, err = image.ParseReference(tag); err != nil {
			return fmt.Errorf("--tag: %w", err)
		}
	}
	built, err := t.buildImage(binaries)
	if err != nil {
		return err
	}
	if err := built.Write(output, ref); err != nil {
		return err
	}
	if tag == "" {
		t.log.Info("the image has no name: give --tag REGISTRY/NAME:TAG for one, or push it")
	}
	_, err = fmt.Fprintln(t.out, ref.Pinned(built.Digest))
	return err
}

func (t *tool) imagePushCommand() *cobra.Command {
	var binaries []string
	var timeout time.Duration
	o := image.Options{Pauses: image.Pauses()}
	cmd := &cobra.Command{
		Use:   "push REGISTRY/NAME:TAG",
		Short: "push the image to a registry",
		Long: `Push the image for all platforms under the tag. What the registry has already is
not sent again, and the tag is written last. The login is that of docker login
or podman login. Standard output is the reference for agent.image; it names the
digest, so that no later push changes what your machines run.

Exit code 4 means that the registry did not say whether it wrote the tag: push
again.`,
		Example: `  homeward image push registry.example.edu/homeward-agent:v1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s takes one reference, as REGISTRY/NAME:TAG, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return usage("--timeout %v: give more than nothing", timeout)
			}
			ctx, stop := context.WithTimeout(cmd.Context(), timeout)
			defer stop()
			return imageError(t.imagePush(ctx, args[0], binaries, o))
		},
	}
	binaryFlag(cmd, &binaries)
	cmd.Flags().StringVar(&o.CAFile, "ca-file", "", "PEM certificates of authorities to accept besides the system's")
	cmd.Flags().BoolVar(&o.PlainHTTP, "plain-http", false, "speak to the registry without TLS: for a lab only, anyone on the way may change the image")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "give up after this time")
	return cmd
}

func (t *tool) imagePush(ctx context.Context, reference string, binaries []string, o image.Options) error {
	ref, err := image.ParseReference(reference)
	if err != nil {
		return err
	}
	built, err := t.buildImage(binaries)
	if err != nil {
		return err
	}
	o.Keychain, o.Agent, o.Log = authn.DefaultKeychain, "homeward/"+toolVersion(), t.log
	pushed, err := built.Push(ctx, ref, o)
	if err != nil {
		return err
	}
	t.log.Info(fmt.Sprintf("%s is %s: %d parts uploaded, %d there already", ref, built.Digest, pushed.Uploaded, pushed.Present))
	_, err = fmt.Fprintln(t.out, ref.Pinned(built.Digest))
	return err
}

// buildImage makes the image of the binaries that were named, or of those beside
// the tool, and says what it holds.
func (t *tool) buildImage(binaries []string) (*image.Image, error) {
	sources, err := imageSources(binaries)
	if err != nil {
		return nil, err
	}
	agents, err := image.ReadBinaries(sources)
	if err != nil {
		return nil, err
	}
	built, err := image.Build(agents)
	if err != nil {
		return nil, err
	}
	for _, part := range built.Parts {
		t.log.Info(fmt.Sprintf("%s: %s, %.1f MiB to pull", part.Platform, part.Digest, float64(part.Size)/(1<<20)))
	}
	return built, nil
}

func imageSources(binaries []string) ([]image.Source, error) {
	if len(binaries) == 0 {
		self, err := os.Executable()
		if err == nil {
			self, err = filepath.EvalSymlinks(self)
		}
		if err != nil {
			return nil, fmt.Errorf("finding the agent beside this tool: %w: name it with --binary", err)
		}
		return image.Beside(filepath.Dir(self)), nil
	}
	var list []image.Source
	for _, text := range binaries {
		source, err := image.ParseSource(text)
		if err != nil {
			return nil, err
		}
		list = append(list, source)
	}
	return list, nil
}

// imageError gives an error of the package its exit code.
func imageError(err error) error {
	switch {
	case errors.Is(err, image.ErrArgument):
		return &coded{exitUsage, err}
	case errors.Is(err, image.ErrUnknown):
		return &coded{exitUnknown, err}
	}
	return err
}
