package netplan

// cloudEffects are the effects on OpenStack, where they are not those of the same
// field elsewhere: there homeward reserve brings ports and the security group to the
// plan.
var cloudEffects = map[string]string{
	"cluster.cidr":    effectRecreate,
	"cluster.dns":     "reserve changes the subnet; each machine learns of it with its next DHCP lease",
	"kubeapi.vip":     "put the new address into kubeapi_sans and apply to the control planes before; then in the order of the generated README",
	"security":        "reserve changes the security group; with talos.firewall every machine gets a new config too",
	"ingress.address": "reserve changes the port and the workers' allowed address pairs; then kubernetes/metallb.yaml, traefik.yaml and argocd/values.yaml",
	"macs.cluster":    effectServer,
	"address":         effectServer,
}

const (
	effectServer  = "a port keeps what it was made with: delete server and port, reserve, make the server anew"
	effectClients = "clients of the old one lose it: move DNS first"
)

// openStack lists what changes of the cloud and of the reserved ports.
func (c *comparison) openStack(old, new *Plan) {
	o, n := old.OpenStack, new.OpenStack
	if o == nil || n == nil {
		return
	}
	c.note("openstack.url", o.URL, n.URL, "another cloud, or another name for it: no machine is touched")
	c.note("openstack.external_net", o.ExternalNet, n.ExternalNet, "the router's gateway and both floating IPs are of another network: release, then reserve")
	c.note("openstack.region", o.Region, n.Region, effectRecreate)
	c.note("openstack.availability_zone", o.AvailabilityZone, n.AvailabilityZone, "only what is made anew is made there")
	c.note("kubeapi.floating", old.KubeAPI.Floating, new.KubeAPI.Floating, effectClients)
	c.note("ingress.floating", old.Ingress.Floating, new.Ingress.Floating, effectClients)
}
