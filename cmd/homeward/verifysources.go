package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"homeward/cmd/homeward/internal/outdir"
	"homeward/cmd/homeward/internal/report/kube"
	"homeward/cmd/homeward/internal/verify"
	"homeward/netplan"
	"homeward/netplan/load"
)

// gather reads what verify holds against the plan, which is that of the result with
// what was allocated. The error is for a run that was ended; what could not be read is
// in the snapshot.
func (t *tool) gather(ctx context.Context, f *verifyFlags, result *load.Result, plan *netplan.Plan, client *kube.Client) (*verify.Snapshot, error) {
	p := newProgress(t.err)
	s := verify.Gather(ctx, verify.Options{
		Plan: plan, Client: client, Namespace: f.namespace, Timeout: f.timeout, Now: time.Now,
		Progress: func(done, total int) { p.bar("reading the cluster", done, total) },
	})
	p.end()
	s.Tool, s.File, s.Out = toolVersion(), f.file, f.out
	s.Files = generatedTree(ctx, plan, f.out)
	if plan.OpenStack != nil {
		s.Reservation = t.allocationOf(ctx, f, result)
	} else {
		s.Reservation = t.reservationOf(ctx, f.file, result)
	}
	if err := ctx.Err(); err != nil {
		return nil, &coded{exitFailed, fmt.Errorf("verifying was ended: %w", err)}
	}
	return s, nil
}

// generatedTree compares the tree that generate wrote with what it would write now.
func generatedTree(ctx context.Context, plan *netplan.Plan, dir string) verify.Files {
	files := verify.Files{Known: outdir.Format}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return files
	}
	files.There = true
	text, err := readFile(filepath.Join(dir, "plan.json"))
	if errors.Is(err, fs.ErrNotExist) {
		files.There = false // some other directory of that name
		return files
	}
	if err != nil {
		files.Err = err
		return files
	}
	if files.Format = outdir.FormatOf("plan.json", text); files.Format > files.Known {
		return files
	}
	tree, err := buildTree(ctx, plan, nil)
	if err != nil {
		files.Err = err
		return files
	}
	report, err := tree.Diff(io.Discard, dir, false)
	files.Err = err
	files.Differ = slices.Concat(report.Written, report.Removed, report.Outdated)
	files.Differ = slices.DeleteFunc(files.Differ, func(name string) bool { return slices.Contains(report.Restamped, name) })
	return files
}

// allocationOf asks OpenStack what is allocated, as status does, where a credential is
// given.
func (t *tool) allocationOf(ctx context.Context, f *verifyFlags, result *load.Result) verify.Reservation {
	if !cloudCredentialGiven(f.file) {
		return verify.Reservation{}
	}
	out := verify.Reservation{Asked: true}
	s, err := t.cloudOf(ctx, &lookFlags{file: f.file, out: f.out}, result)
	if err != nil {
		out.Err = err
		return out
	}
	out.Cloud = s.status(ctx)
	return out
}

// cloudCredentialGiven says that there is something to log in to OpenStack with, right
// or wrong.
func cloudCredentialGiven(file string) bool {
	for _, name := range []string{load.EnvCredentialID, load.EnvCredentialSecret, "OS_CLOUD", "OS_AUTH_URL", "OS_APPLICATION_CREDENTIAL_SECRET", "OS_PASSWORD"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(file), load.SecretsFile))
	return err == nil
}

// reservationOf asks Proxmox what is reserved, as status does, where a token is given.
func (t *tool) reservationOf(ctx context.Context, file string, result *load.Result) verify.Reservation {
	if result.Plan.External == nil || !tokenGiven(file) {
		return verify.Reservation{}
	}
	out := verify.Reservation{Asked: true}
	s, err := t.siteOf(file, result)
	if err != nil {
		out.Err = err
		return out
	}
	defer s.progress.end()
	l, err := s.look(ctx, &lookFlags{file: file})
	if err != nil {
		out.Err = err
		return out
	}
	out.Status, out.Err = s.Status(ctx, l)
	return out
}
