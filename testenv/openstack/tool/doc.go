// Package tool has the test of the built homeward against a real Keystone and Neutron:
// from an empty project to the values of the load-balancing page, and back.
package tool
