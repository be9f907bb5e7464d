// Package vm runs programs, mostly test binaries, on another kernel than the
// machine's own: Debian's, in QEMU, with or without KVM, booted in seconds from
// an initramfs that is made here. Nothing of it needs root.
//
//	result, err := vm.Run(ctx, vm.Job{
//		Kernel:   kernel,   // debian.Find
//		Init:     initFile, // go build homeward/testenv/vm/init, CGO_ENABLED=0
//		Commands: []string{"ip", "nft", "sh"},
//		Binaries: []vm.Binary{{Name: "kernel", File: testBinary, Args: []string{"-test.v=test2json"}}},
//	})
//
// Inside, a program is root, has the Commands in its PATH and the NICs in the
// network namespace it starts in, without udev: eth0, eth1 and so on. With
// [guest.Require] and its neighbours it asks the host to unplug a NIC, plug it in
// again or take its cable away.
//
// The tests of this package, with HOMEWARD_VM=1, repeat those of every package
// that uses netlab on this kernel, without a list to keep, and run those of
// testenv/vm/guest on a machine with NICs and those of testenv/vm/hostunit under
// systemd. HOMEWARD_VM_ONLY chooses packages by a regular expression; -v shows their
// output as it comes.
//
// Run gives an error when the machine did not get through its order, with the
// end of its console: no result is never a result. What the binaries found is in
// the Result.
package vm
