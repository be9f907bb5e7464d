//go:build linux

// Package neighbours replays what other software that marks packets, keeps routing
// rules or writes nftables does to a node: it installs what that software documents,
// restarts it as that software does, and cleans it up as is advised.
//
// Each replay is a file of shell below replay, for that is what the rules are listed
// as: three functions, install, restart and cleanup. Where the rules come from stands
// at its head. [All] lists them, with what their own traffic must do ([Flow]):
//
//	r, err := neighbours.All()[0].Settle(cluster, cluster.Nodes[0])
//	err = r.Install(ctx)
//	before, err := neighbours.List(ctx, node) // everything on the node but ours
//	err = r.Ask(ctx)                          // its own traffic goes its own way
//	err = r.Restart(ctx)
//	err = r.CleanUp(ctx)
//
// The replays do not stand for the software: what it does inside BPF programs, or as an
// answer to what happens, is not here.
package neighbours
