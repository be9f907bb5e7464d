package proxmox

import "strconv"

// The privileges that are needed, as PVE 9 names them.
const (
	sysAudit     = "Sys.Audit"
	sysModify    = "Sys.Modify"
	vmAudit      = "VM.Audit"
	vmNetwork    = "VM.Config.Network"
	agentAudit   = "VM.GuestAgent.Audit"
	agentAll     = "VM.GuestAgent.Unrestricted"
	vmMonitor    = "VM.Monitor" // what PVE 8 asks for instead of the two
	sdnAudit     = "SDN.Audit"
	sdnUse       = "SDN.Use"
	sdnAllocate  = "SDN.Allocate"
	poolAudit    = "Pool.Audit"
	poolAllocate = "Pool.Allocate"
)

// Reading is what an inventory takes. Without is the source that is unknown else.
func Reading(live bool) []Need {
	needs := []Need{
		{Path: "/", AnyOf: []string{sysAudit}, For: "firewall sets and aliases, the ledger among them", Without: "firewall sets and aliases"},
		{Path: "/vms", Below: true, AnyOf: []string{vmAudit}, For: "the guests' NICs, addresses and filters", Without: "guests (those that the token may not see are left out silently)"},
		{Path: "/sdn/zones", Below: true, AnyOf: []string{sdnAudit, sdnAllocate}, For: "SDN's networks and its IPAM", Without: "SDN zones, VNets, subnets and IPAM (those that the token may not see are left out silently)"},
	}
	needs = append(needs, ReadingBridges()...)
	if live {
		needs = append(needs, Need{Path: "/vms", Below: true, AnyOf: []string{agentAudit, agentAll, vmMonitor}, For: "the addresses that guest agents report (--live)", Without: "live addresses of VMs"})
	}
	return needs
}

// ReadingBridges is what the nodes' interfaces take.
func ReadingBridges() []Need {
	return []Need{{Path: "/sdn/zones/localnetwork", Below: true, AnyOf: []string{sdnAudit, sdnUse}, For: "the nodes' bridges", Without: "bridges of the nodes (those that the token may not see are left out silently)"}}
}

// WritingSet is what the ledger takes in the cluster's firewall.
func WritingSet() []Need {
	return []Need{{Path: "/", AnyOf: []string{sysModify}, For: "the ledger, a set of the cluster's firewall", Without: "reserving in the firewall's ledger"}}
}

// ReadingPools is what reading the other kind of ledger takes.
func ReadingPools(name string) []Need {
	return []Need{{Path: "/pool/" + name, Below: true, AnyOf: []string{poolAudit}, For: "the ledger's other kind, nested resource pools: every reserver reads both", Without: "claims in resource pools"}}
}

// WritingPools is what the ledger takes in resource pools.
func WritingPools(name string) []Need {
	return append(ReadingPools(name), Need{Path: "/pool/" + name, Below: true, AnyOf: []string{poolAllocate}, For: "the ledger in nested resource pools", Without: "reserving in the pools' ledger"})
}

// WritingIPAM is what the second claim takes on a VNet with a subnet.
func WritingIPAM(zone, vnet string) []Need {
	return []Need{{Path: "/sdn/zones/" + zone + "/" + vnet, AnyOf: []string{sdnAllocate}, For: "claims in SDN's IPAM", Without: "claiming in SDN's IPAM"}}
}

// ReadingGuests is what the report on the cluster's own guests takes beyond an
// inventory.
func ReadingGuests() []Need {
	return []Need{{Path: "/nodes", Below: true, AnyOf: []string{sysAudit}, For: "whether the nodes' firewalls are on", Without: "the firewalls of the nodes"}}
}

// WritingGuests is what changing the cluster's own guests takes: each by its number,
// all guests where none are given. A NIC that moves to a bridge, VNet or tag takes
// the use of that network, which is "localnetwork/BRIDGE" or "ZONE/VNET".
func WritingGuests(network string, vmids []int) []Need {
	paths := []string{"/vms"}
	if len(vmids) > 0 {
		paths = nil
	}
	for _, id := range vmids {
		paths = append(paths, "/vms/"+strconv.Itoa(id))
	}
	var needs []Need
	for _, p := range paths {
		needs = append(needs, Need{Path: p, Below: len(vmids) == 0, AnyOf: []string{vmNetwork}, For: "the cluster's own NICs, filters and rules (--guests)", Without: "changing the guests"})
	}
	return append(needs, Need{Path: "/sdn/zones/" + network, Below: true, AnyOf: []string{sdnUse}, For: "a NIC of --guests on that network", Without: "putting a NIC on that network"})
}
