// Package faults stands between an OpenStack client and the servers and lets things
// go wrong between them, at the request that a test names: connections that break
// before or after the work is done, requests that are done late, answers of a
// balancer in front, refusals, cut bodies.
//
//	proxy, err := faults.Start(cloud.Identity(), cloud.Network())
//	client, err := project.Client(ctx, proxy.Identity())
//	proxy.Add(faults.Match{Method: "POST", Path: "/v2.0/ports", From: 3}, faults.Lose())
//
// The catalog that Keystone gives through the proxy leads to Neutron through the
// proxy. Every request is recorded by method and path; headers and bodies, which
// hold secrets, are not.
//
// A client is killed at request k with a [Match] that has only From, and a function
// that kills it:
//
//	proxy.Add(faults.Match{From: k}, faults.Lose(cancel))
//
// A request that is done late, just before the client creates the thing again:
//
//	late := proxy.Add(faults.Match{Method: "POST", Path: "/v2.0/networks"}, faults.Late(faults.Gone()))
//	proxy.Add(faults.Match{Method: "POST", Path: "/v2.0/networks", From: 2}, faults.Before(late.Deliver))
//
// Go's HTTP client repeats a GET by itself when a connection that it used before
// breaks before the first byte of an answer; [Drop] of a GET shows that.
package faults
