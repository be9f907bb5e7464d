// Package pvesim is a simulator of the Proxmox VE 9.2 API.
package pvesim
