// Package talosgen turns an address plan into Talos Linux machine configuration:
// a plan in, documents out, for Talos 1.13 and for 1.14 and later.
//
// A Renderer gives each machine one multi-document patch (MachinePatch) or a
// complete configuration made from a base file of `talosctl gen config`
// (Complete). Same plan, same bytes. A Renderer is never changed after
// NewRenderer and is safe for use by several goroutines.
//
// # Patches go onto a pristine base
//
// Talos merges lists by appending. A patch of ours is for `talosctl gen config
// --config-patch` or `apply-config --config-patch` with the base file, never for
// `talosctl patch mc` on a living node: there it fails (RoutingRuleConfig) or
// silently doubles routes and pods. On day two, Complete is the way: it takes out
// what an earlier Complete put in, and twice gives the same bytes as once.
//
// # What is checked by whom
//
// Every document whose kind Talos machinery v1.13.9 knows is built from its
// types, except the parts of the v1alpha1 document: machinery writes that
// document's empty token and type even into a patch. What comes out is tested
// with machinery's own loader, patcher and validator. Talos 1.14 adds
// KubeNodeConfig, KubeStaticPodConfig and KubeAPIServerConfig, which are declared
// here by hand. The newest machinery that is served, v1.14.0-alpha.2, knows only
// the last of them; the tests of testenv/talos114 apply all other kinds with it
// to a 1.14 base, and compare those it does not know, field by field, with
// documents that a talosctl 1.14 release candidate accepted.
//
// # Talos's own firewall
//
// With talos.firewall every port is closed to the outside but four: the
// Kubernetes API (6443, control planes), Talos's API (50000), 80 and 443. Each of
// these is open to everyone unless the plan's security section names who may
// come; the first two ask for a client certificate, and closing them by default
// would lock out the operator who reaches the cluster from elsewhere. The private
// network, pods and services may reach every port. Talos itself lets replies of
// established connections and five ICMP packets a second in, so no rule is needed
// for either. Its prerouting chain judges only packets for the node's own
// addresses, so pool addresses pass it and are not restricted by it; a backend in
// the node's own network on another port than 80 and 443 needs a rule of its own,
// given as a named port in the security section.
package talosgen
