// Package openstack allocates a cluster's network at an OpenStack cloud: network,
// subnet, router, security group, one port per machine, and for the API and the
// ingress a port with a fixed address and a floating IP each.
//
// What should be is one value, made of a plan and an owner (For). What there is is
// read in a few lists (Client.Read), and Resolve says of it what is the owner's. Diff
// gives the steps between the two, those that add before those that remove. Reserve
// runs them and reads again until nothing is left to do, so that it can be killed
// after any request and run again, and so that two operators of one cluster end with
// the same objects.
//
// Neutron's names are not unique and it has no locks. What is ours stands in each
// object's description, written with it in one request: see Mark. Of two who make the
// same thing at once the server stops one where it can: an address, a MAC or a rule
// exists once, a network prefix once in a network, and a port has one floating IP.
// Networks, routers and groups can be made twice: then all keep the older one, and
// the other goes once nothing uses it.
//
// Nothing that has another mark or none is ever changed, but for a floating IP that
// the plan names: that is put on the port and taken off again, and stays.
package openstack
