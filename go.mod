module homeward

go 1.26.6

require (
	github.com/google/go-cmp v0.7.0
	// Not v0.3.0: that lists `ct mark set` without its store side, so that our table
	// would never compare equal to itself. No later release has it yet.
	github.com/google/nftables v0.3.1-0.20251119083706-1db35da82052
	github.com/mdlayher/netlink v1.11.2
	github.com/vishvananda/netlink v1.3.1
	golang.org/x/mod v0.43.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/mdlayher/packet v1.1.2
	github.com/vishvananda/netns v0.0.5
)

require (
	github.com/josharian/native v1.1.0 // indirect
	github.com/mdlayher/socket v0.6.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
)
