package main

import (
	"context"
	"os"
	"path/filepath"

	"homeward/agent/ledger/inventory"
	"homeward/agent/proxmox"
	"homeward/cmd/homeward/internal/report"
	"homeward/cmd/homeward/internal/report/kube"
	"homeward/netplan/load"
)

// readProvider reads Proxmox where it can be: on one of its hosts, or with a token.
func (t *tool) readProvider(ctx context.Context, f *reportFlags, result *load.Result, facts *report.Facts) error {
	if f.planOnly || !f.local && !tokenGiven(f.file) {
		return nil
	}
	var snapshot *inventory.Snapshot
	var err error
	if f.local {
		snapshot, err = localSnapshot()
	} else {
		access, warnings, accessErr := load.Access(f.file, result.Spec.Proxmox, os.Getenv)
		if accessErr != nil {
			return t.refuse(refusalFormat(f.output), accessErr)
		}
		for _, w := range warnings {
			t.log.Warn(w.Path + ": " + w.Message)
		}
		client, clientErr := t.client(access)
		if clientErr != nil {
			return clientErr
		}
		p := newProgress(t.err)
		snapshot, err = proxmox.Read(ctx, client, proxmox.ReadOptions{Progress: func(done, total int) { p.bar("reading what Proxmox knows", done, total) }})
		p.end()
	}
	if ctx.Err() != nil {
		return &coded{exitFailed, ctx.Err()}
	}
	if err != nil {
		facts.Proxmox = report.Source{State: report.SourceFailed, Detail: []string{err.Error()}}
		return nil
	}
	facts.Snapshot, facts.Proxmox = snapshot, report.Source{State: report.SourceRead}
	for _, u := range snapshot.Unread {
		facts.Proxmox.State = report.SourcePartial
		facts.Proxmox.Detail = append(facts.Proxmox.Detail, u.Source+": "+u.Reason)
	}
	return nil
}

// tokenGiven says that somebody gave a token for Proxmox, so that it is to be used.
func tokenGiven(file string) bool {
	if os.Getenv(load.EnvTokenID) != "" || os.Getenv(load.EnvTokenSecret) != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(file), load.SecretsFile))
	return err == nil
}

func (t *tool) readCluster(ctx context.Context, f *reportFlags, facts *report.Facts) error {
	if f.kubeconfig == "" {
		return nil
	}
	client, err := kube.Open(kube.Options{Kubeconfig: f.kubeconfig, Context: f.context, UserAgent: "homeward/" + toolVersion()})
	if err != nil {
		return usage("--kubeconfig: %w", err)
	}
	facts.Cluster, facts.Kubernetes, err = kube.Read(ctx, client)
	if err != nil {
		return &coded{exitFailed, err}
	}
	return nil
}
