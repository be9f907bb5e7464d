// Package exchange is what the clients of Proxmox and OpenStack have in common over
// HTTP: a transport that gives only answers which came whole and are the API's, the
// words for a connection that was not made or broke, and foreign text made fit for a
// message.
package exchange
