// Package openstack is a lab of a real OpenStack.
package openstack
