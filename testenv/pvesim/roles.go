package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// privileges are all that Proxmox VE 9 knows.
var privileges = strings.Fields(`Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit Group.Allocate
	Mapping.Audit Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate Pool.Audit Realm.Allocate Realm.AllocateUser
	SDN.Allocate SDN.Audit SDN.Use Sys.AccessNetwork Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog
	User.Modify VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk
	VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.GuestAgent.Audit VM.GuestAgent.FileRead
	VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted VM.Migrate VM.PowerMgmt VM.Replicate
	VM.Snapshot VM.Snapshot.Rollback`)

// roles are the built-in ones that a grant may name.
func roles() map[string][]string {
	return map[string][]string{
		"NoAccess":      {},
		"Administrator": privileges,
		"PVEAuditor":    {"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit", "VM.GuestAgent.Audit"},
		"PVESDNAdmin":   {"SDN.Allocate", "SDN.Audit", "SDN.Use"},
		"PVESDNUser":    {"SDN.Audit", "SDN.Use"},
		"PVEPoolAdmin":  {"Pool.Allocate", "Pool.Audit"},
		"PVEPoolUser":   {"Pool.Audit"},
	}
}

func getRoles(*call) (any, error) {
	list := []any{}
	all := roles()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, map[string]any{"roleid": name, "special": 1, "privs": strings.Join(all[name], ",")})
	}
	return list, nil
}
