package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"homeward/testenv/pvesim"
)

// stateKeeper keeps the simulator's state in a file; with an empty path it keeps
// nothing.
type stateKeeper struct {
	path string
	// last is the file as this process wrote it.
	last os.FileInfo
}

// open gives the state to begin with: the file's, or a fresh one, which is written
// down at once so that a file that cannot be written shows now.
func (k *stateKeeper) open() (*pvesim.State, error) {
	if k.path == "" {
		return pvesim.NewState(), nil
	}
	st, err := pvesim.LoadState(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		st = pvesim.NewState()
	} else if errors.Is(err, pvesim.ErrNoState) {
		return nil, usage("--state: %w: give a file that the simulator wrote or that --example-state printed, or one that does not exist yet and will be made", err)
	} else if err != nil {
		return nil, usage("--state: %w", err)
	} else if k.last, err = os.Stat(k.path); err != nil {
		return nil, err
	}
	if err := k.save(st); err != nil {
		return nil, usage("--state: %w", err)
	}
	return st, nil
}

// save writes the state down. It refuses when somebody else has written to the
// file: another simulator, or an editor.
func (k *stateKeeper) save(st *pvesim.State) error {
	if k.path == "" {
		return nil
	}
	if k.last != nil {
		now, err := os.Stat(k.path)
		if err != nil {
			return err
		}
		if !os.SameFile(now, k.last) || !now.ModTime().Equal(k.last.ModTime()) {
			return fmt.Errorf("somebody else has changed %s: one simulator to a file", k.path)
		}
	}
	if err := st.Save(k.path); err != nil {
		return err
	}
	var err error
	k.last, err = os.Stat(k.path)
	return err
}

// stateHelp describes the file of --state to who writes one by hand.
const stateHelp = `The file is JSON, and --example-state prints one to begin with. Its parts:

  kind      "homeward proxmox simulator state 1", always
  nodes     name to node: name, id, address, online, interfaces (bridges, VLANs)
  guests    number to guest: kind (qemu or lxc), vmid, node, running, agent, pool,
            config (the options as in the guest's file: net0, ipconfig0, ...) and
            live (what its interfaces say, for --live)
  pools     id to pool: comment
  tokens    id to token: id, secret, grants (path, a built-in role or privileges,
            propagate)
  firewall  the text of files: "cluster", "host/NODE", "guest/VMID"
  sdn       config and running (what was applied): zones, vnets, subnets
  ipam      "ZONE SUBNET" to the addresses of SDN's own IPAM
  quorate   false: reads alone are answered

Nodes and tokens there must be; the rest may be left out. Guests, pools, firewall and
SDN can be changed over the API too; tokens and nodes are the file's alone. The
example has guests 101 (VM) and 102 (container) in VLAN 1691 of vmbr0, 103 on the VNet
apps, an alias for a printer, and two tokens for --token: homeward@pve!status may
only read, homeward@pve!reserve writes the ledger too, and neither touches guests.
`

// exampleState prints a state for --state.
func (t *tool) exampleState() error {
	st, err := pvesim.ExampleState()
	if err != nil {
		return err
	}
	return encode(t.out, "json", st)
}

// faultHelp describes the faults of --fault.
func faultHelp() string {
	var rows [][]string
	for _, f := range pvesim.NamedFaults() {
		rows = append(rows, []string{"  " + f.Name, f.What})
	}
	var b strings.Builder
	b.WriteString("--fault lets each request fail, or with :EVERY each so manyth of those it strikes:\n\n")
	table(&b, rows)
	return strings.TrimRight(b.String(), "\n")
}

// labTokenOf finds the token that the lines give; an empty id is the one that may
// do all.
func labTokenOf(st *pvesim.State, id string) (labToken, error) {
	if id == "" {
		id, secret := st.FirstToken()
		return labToken{id, secret}, nil
	}
	secret, ok := st.Token(id)
	if !ok {
		return labToken{}, usage("--token: the state has no token %q", id)
	}
	return labToken{id, secret}, nil
}
