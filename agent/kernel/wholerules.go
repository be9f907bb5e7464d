//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"slices"
	"time"

	events "github.com/mdlayher/netlink"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"homeward/netplan"
)

// oneDatagram is how many bytes of rules the kernel surely gives in one piece: a
// little less than NLMSG_GOODSIZE with the smallest page.
const oneDatagram = 3700

// wholeRules lists the rules once, and gives netlink.ErrDumpInterrupted when the
// list may have changed meanwhile.
//
// The kernel gives rules a datagram at a time and goes on by place
// (net/core/fib_rules.c, dump_rules): a rule that is deleted in front of that place
// makes it leave out another. Unlike links and addresses it never says so: with 2000
// rules, and one that came and went, two of five listings lacked a rule that was
// there all the time (Linux 6.18). A list of one datagram, which is what most nodes
// have, is whole anyway. Of a longer one two listings must be equal, and no rule may
// have come or gone during both: equal listings alone can lack the same rule, and
// the word of a change comes a moment after the change.
func wholeRules() (rules []netplan.Rule, err error) {
	rules, size, err := dumpRules()
	if err != nil || size <= oneDatagram {
		return rules, err
	}
	changes, err := subscription{family: unix.NETLINK_ROUTE, groups: []uint32{unix.RTNLGRP_IPV4_RULE}}.join()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, changes.Close()) }()
	if rules, _, err = dumpRules(); err != nil {
		return nil, err
	}
	again, _, err := dumpRules()
	if err != nil {
		return nil, err
	}
	still, err := silent(changes)
	if err != nil {
		return nil, err
	}
	if !still || !slices.Equal(rules, again) {
		return nil, netlink.ErrDumpInterrupted
	}
	return rules, nil
}

// wordOfChange is how long the word of a change may come after the change.
const wordOfChange = 5 * time.Millisecond

// silent says that nothing has come for a subscription, and that nothing comes soon.
// It looks without a deadline: one that passes before the read begins, as it does on a
// busy processor, lets nothing be read, also what came long ago.
func silent(c *events.Conn) (bool, error) {
	time.Sleep(wordOfChange)
	raw, err := c.SyscallConn()
	if err != nil {
		return false, fmt.Errorf("looking for changed rules: %w", err)
	}
	var peeked error
	err = raw.Control(func(fd uintptr) {
		_, _, peeked = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("looking for changed rules: %w", err)
	case errors.Is(peeked, unix.EAGAIN):
		return true, nil
	case peeked == nil, errors.Is(peeked, unix.ENOBUFS), errors.Is(peeked, unix.EINTR):
		return false, nil
	}
	return false, fmt.Errorf("looking for changed rules: %w", peeked)
}

// dumpRules asks for the rules once; size is how many bytes they took.
func dumpRules() (rules []netplan.Rule, size int, err error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETRULE, unix.NLM_F_DUMP)
	req.AddData(nl.NewIfInfomsg(unix.AF_INET))
	messages, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWRULE)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range messages {
		r, err := parseRule(m)
		if err != nil {
			return nil, 0, err
		}
		rules = append(rules, r)
		size += unix.SizeofNlMsghdr + len(m)
	}
	return rules, size, nil
}
