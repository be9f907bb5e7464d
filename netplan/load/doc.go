// Package load reads an operator's cluster.yaml into netplan values and says of
// every mistake on which line it stands.
//
// One table (keys.go) knows every key: where it stands, what it holds, what it
// means. Loading, the JSON Schema and the commented file of `homeward init` all
// follow from that table.
//
// The file is shared with other tools. In the strict sections (network,
// proxmox.network, openstack, return_path, ingress, agent, machines, security) an
// unknown key is a fault. Elsewhere it is one only where it is nearly a known key; else
// it is listed in Result.Unused and its value is never looked at.
//
// What counts as "not given": a missing key, a key with a written-out null (or
// ~), an empty list, and an optional section with nothing in it. A key with
// nothing behind the colon is a fault, for it is mostly a value forgotten.
//
// Lines are 1-based and those of the key as it is written; for an entry of a
// list, of the entry; for keys that come in by an alias or a merge key, of the
// place where they stand.
//
// Access and OpenStackAccess read a provider's credential from secrets.yaml or the
// environment, by a small table of their own (credentials.go) and the same machinery.
//
// Values of credentials, encrypted values and values of unknown keys are never
// repeated in a message.
package load
