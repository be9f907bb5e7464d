// Package provision renders a plan for what makes the virtual machines: a shell
// script for a Proxmox node and a variables file for Terraform. Both say the same
// about a machine's NICs: net0 is the private one, net1 the external one where the
// machine has it. On OpenStack ports and security group are homeward reserve's, and
// only the variables file remains, which names them.
//
// It reads nothing and holds no state: same plan, same bytes, without the header
// of generated files, which the writer of the tree adds.
package provision
