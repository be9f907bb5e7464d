package pvesim

import "maps"

// handlers are the methods that the simulator has, by verb and path as the schema
// writes them.
func handlers() map[string]handler {
	h := map[string]handler{
		"GET /version":                  getVersion,
		"GET /access/permissions":       getPermissions,
		"GET /access/acl":               getACL,
		"GET /access/roles":             getRoles,
		"GET /cluster/status":           getClusterStatus,
		"GET /cluster/resources":        getResources,
		"GET /cluster/nextid":           getNextID,
		"GET /nodes":                    listNodes,
		"GET /nodes/{node}/network":     listInterfaces,
		"GET /cluster/firewall/groups":  listGroups,
		"POST /cluster/firewall/groups": createGroup,
		"GET /pools":                    listPools,
		"POST /pools":                   createPool,
		"PUT /pools":                    putPool,
		"DELETE /pools":                 deletePool,
		"GET /pools/{poolid}":           getPool,
		"PUT /pools/{poolid}":           putPool,
		"DELETE /pools/{poolid}":        deletePool,

		"GET /nodes/{node}/network/{iface}":                          getInterface,
		"GET /nodes/{node}/tasks/{upid}/status":                      getTaskStatus,
		"GET /nodes/{node}/tasks/{upid}/log":                         getTaskLog,
		"DELETE /cluster/firewall/groups/{group}":                    deleteGroup,
		"POST /nodes/{node}/qemu/{vmid}/config":                      putGuestConfigLater,
		"GET /nodes/{node}/qemu/{vmid}/agent/network-get-interfaces": getAgentInterfaces,
		"GET /nodes/{node}/lxc/{vmid}/interfaces":                    getContainerInterfaces,
	}
	maps.Copy(h, sdnHandlers())
	addRules(h, "/cluster/firewall/groups/{group}", "/cluster/firewall/groups/{group}/{pos}")
	addWall(h, "/cluster/firewall", true)
	addWall(h, "/nodes/{node}/firewall", false)
	for _, kind := range []string{"qemu", "lxc"} {
		base := "/nodes/{node}/" + kind
		h["GET "+base] = listGuests
		h["POST "+base] = createGuest
		h["DELETE "+base+"/{vmid}"] = destroyGuest
		h["POST "+base+"/{vmid}/status/start"] = startGuest
		h["POST "+base+"/{vmid}/status/stop"] = stopGuest
		h["GET "+base+"/{vmid}/config"] = getGuestConfig
		h["PUT "+base+"/{vmid}/config"] = putGuestConfig
		h["GET "+base+"/{vmid}/pending"] = getGuestPending
		h["GET "+base+"/{vmid}/status/current"] = getGuestStatus
		addWall(h, base+"/{vmid}/firewall", true)
	}
	return h
}

// sdnHandlers are those of SDN, the cluster's and the nodes'.
func sdnHandlers() map[string]handler {
	return map[string]handler{
		"GET /nodes/{node}/sdn/zones":                       listNodeZones,
		"GET /nodes/{node}/sdn/zones/{zone}/content":        getZoneContent,
		"GET /nodes/{node}/sdn/zones/{zone}/bridges":        getZoneBridges,
		"GET /cluster/sdn/ipams":                            listIPAMs,
		"GET /cluster/sdn/ipams/{ipam}":                     getIPAM,
		"GET /cluster/sdn/ipams/{ipam}/status":              getIPAMStatus,
		"POST /cluster/sdn/vnets/{vnet}/ips":                createIP,
		"PUT /cluster/sdn/vnets/{vnet}/ips":                 putIP,
		"DELETE /cluster/sdn/vnets/{vnet}/ips":              deleteIP,
		"PUT /cluster/sdn":                                  applySDN,
		"GET /cluster/sdn/vnets/{vnet}/subnets":             listSubnets,
		"POST /cluster/sdn/vnets/{vnet}/subnets":            createSubnet,
		"GET /cluster/sdn/vnets/{vnet}/subnets/{subnet}":    getSubnet,
		"PUT /cluster/sdn/vnets/{vnet}/subnets/{subnet}":    putSubnet,
		"DELETE /cluster/sdn/vnets/{vnet}/subnets/{subnet}": deleteSubnet,
		"GET /cluster/sdn/zones":                            listZones,
		"POST /cluster/sdn/zones":                           createZone,
		"GET /cluster/sdn/zones/{zone}":                     getZone,
		"PUT /cluster/sdn/zones/{zone}":                     putZone,
		"DELETE /cluster/sdn/zones/{zone}":                  deleteZone,
		"GET /cluster/sdn/vnets":                            listVNets,
		"POST /cluster/sdn/vnets":                           createVNet,
		"GET /cluster/sdn/vnets/{vnet}":                     getVNet,
		"PUT /cluster/sdn/vnets/{vnet}":                     putVNet,
		"DELETE /cluster/sdn/vnets/{vnet}":                  deleteVNet,
	}
}

// addWall adds the methods of one kind of firewall; a node's has rules and options
// alone.
func addWall(h map[string]handler, base string, whole bool) {
	h["GET "+base+"/options"] = getOptions
	h["PUT "+base+"/options"] = putOptions
	addRules(h, base+"/rules", base+"/rules/{pos}")
	if !whole {
		return
	}
	h["GET "+base+"/refs"] = listRefs
	h["GET "+base+"/aliases"] = listAliases
	h["POST "+base+"/aliases"] = createAlias
	h["GET "+base+"/aliases/{name}"] = getAlias
	h["PUT "+base+"/aliases/{name}"] = putAlias
	h["DELETE "+base+"/aliases/{name}"] = deleteAlias
	h["GET "+base+"/ipset"] = listSets
	h["POST "+base+"/ipset"] = createSet
	h["DELETE "+base+"/ipset/{name}"] = deleteSet
	h["GET "+base+"/ipset/{name}"] = listMembers
	h["POST "+base+"/ipset/{name}"] = addMember
	h["GET "+base+"/ipset/{name}/{cidr}"] = getMember
	h["PUT "+base+"/ipset/{name}/{cidr}"] = putMember
	h["DELETE "+base+"/ipset/{name}/{cidr}"] = deleteMember
}

func addRules(h map[string]handler, list, one string) {
	h["GET "+list] = listRules
	h["POST "+list] = createRule
	h["GET "+one] = getRule
	h["PUT "+one] = putRule
	h["DELETE "+one] = deleteRule
}
