package report

import "homeward/netplan"

// Format is the number of the JSON form. Fields are added without a new number.
const Format = 1

// Report is the statement about one cluster. Its JSON form is a contract: fields are
// added, never renamed. Slices are never nil.
type Report struct {
	Format  int    `json:"format"`
	Cluster string `json:"cluster"`
	// Interpreted is everything but Measured: it follows from what is declared.
	Assumptions []string `json:"assumptions"`
	Sources     Sources  `json:"sources"`
	// Answers are the questions that matter most, each with its answer.
	Answers    []Answer    `json:"answers"`
	Components []Component `json:"components"`
	// Announcements say who is expected to announce an address of the pool, at most
	// MaxAnnouncements of them.
	Announcements []Announcement `json:"announcements"`
	// Hosts are the Proxmox hosts with machines, by name; Unplaced are the machines
	// whose host is not known.
	Hosts    []Host    `json:"hosts"`
	Unplaced []Machine `json:"unplaced"`
	Network  Network   `json:"network"`
	Failures []Failure `json:"failures"`
	// SinglePoints each take something down alone.
	SinglePoints []SinglePoint `json:"single_points"`
	Improvements []Improvement `json:"improvements"`
	// After says what is so once the improvements with edits are made; empty without.
	After    string        `json:"after_improvements,omitempty"`
	Measured []Measurement `json:"measured"`
	Unknown  []string      `json:"unknown"`
}

// Sources are what the report rests on beside the plan.
type Sources struct {
	Proxmox    Source `json:"proxmox"`
	Kubernetes Source `json:"kubernetes"`
}

// Effect is what a failure does to something that clients use.
type Effect string

// The effects, from the least to the worst.
const (
	Absent  Effect = "absent" // the plan has none
	Stays   Effect = "stays"  // goes on
	Moves   Effect = "moves"  // interrupted, then goes on from elsewhere by itself
	Unknown Effect = "unknown"
	Lost    Effect = "lost" // until somebody repairs what failed
)

var badness = map[Effect]int{Absent: 0, Stays: 1, Moves: 2, Unknown: 3, Lost: 4}

// Worse gives the worse of two effects.
func (e Effect) Worse(other Effect) Effect {
	if badness[other] > badness[e] {
		return other
	}
	return e
}

// Effects are those on the three things that clients use.
type Effects struct {
	// Ingress is the addresses of the pool, API the Kubernetes API, and Config new
	// addresses for services and changes to them.
	Ingress Effect `json:"ingress"`
	API     Effect `json:"api"`
	Config  Effect `json:"config"`
}

// Worst of the two that carry traffic.
func (e Effects) Worst() Effect { return e.Ingress.Worse(e.API) }

// Answer is a question an operator asks first.
type Answer struct {
	Question Question `json:"question"`
	Effects
	// Text answers in one line.
	Text string `json:"text"`
}

// Question names a class of failures.
type Question string

// The questions.
const (
	AnyWorker       Question = "worker"
	AnyControlPlane Question = "control-plane"
	AnyHost         Question = "host"
)

// Component is a part of the cluster with what makes it redundant.
type Component struct {
	Name string `json:"name"`
	// Layout is what is declared, and Mechanism what takes over.
	Layout    string `json:"layout"`
	Mechanism string `json:"mechanism"`
	// Observed is what a living source says; empty when none was read.
	Observed string `json:"observed,omitempty"`
}

// Machine is one of the plan's, where it runs.
type Machine struct {
	Name      string       `json:"name"`
	Role      netplan.Role `json:"role"`
	External  bool         `json:"external"`
	Announces bool         `json:"announces"`
	// HoldsVIP says that the API's VIP may stand there.
	HoldsVIP bool `json:"may_hold_vip"`
	// Addresses are those of the pool that it is expected to announce.
	Addresses []string `json:"addresses"`
}

// Host is a Proxmox host.
type Host struct {
	Name string `json:"name"`
	// Offline is what Proxmox says; false also where it was not asked.
	Offline  bool      `json:"offline,omitempty"`
	Machines []Machine `json:"machines"`
	Loss     Loss      `json:"loss"`
	// Uplinks are the ports of the bridge of the external segment there; empty is not
	// known.
	Uplinks []string `json:"uplinks,omitempty"`
}

// Loss is what the loss of a host with all its machines takes down at once.
type Loss struct {
	Effects
	// ControlPlanes, Announcers and Candidates (for the VIP) are how many run there.
	ControlPlanes int `json:"control_planes"`
	Announcers    int `json:"announcers"`
	Candidates    int `json:"vip_candidates"`
	// Etcd is what is left; Quorum says whether it can still write.
	Etcd   Etcd    `json:"etcd_left"`
	Quorum Verdict `json:"quorum"`
	// AnnouncersLeft is the least there can be.
	AnnouncersLeft int `json:"announcers_left"`
	// Addresses are expected to be announced from there, and have to move.
	Addresses []string `json:"addresses"`
	Text      string   `json:"text"`
}

// Failure is one, with what is expected and what that still depends on.
type Failure struct {
	Kind    Kind   `json:"kind"`
	Subject string `json:"subject"`
	Effects
	Expected string `json:"expected"`
	Remains  string `json:"remains"`
}

// Kind is what fails.
type Kind string

// The kinds of failures, in the report's order.
const (
	FailWorker          Kind = "worker"
	FailAnnouncer       Kind = "announcer"
	FailControlPlane    Kind = "control_plane"
	FailHost            Kind = "host"
	FailSecond          Kind = "second_failure"
	FailGateway         Kind = "external_gateway"
	FailPrivateGateway  Kind = "private_gateway"
	FailSegment         Kind = "external_segment"
	FailPrivateSegment  Kind = "private_segment"
	FailSwitch          Kind = "switch"
	FailController      Kind = "controller"
	FailAddressConflict Kind = "address_conflict"
	FailReturnPath      Kind = "return_path"
	FailBalancer        Kind = "api_balancer"
)

// SinglePoint takes something down alone.
type SinglePoint struct {
	// Kind says which failure shows it.
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Takes are ingress, api and config, as far as they are lost.
	Takes []string `json:"takes"`
	Why   string   `json:"why"`
}

// Improvement is advice.
type Improvement struct {
	// Change says what to do, and Why what it brings.
	Change string `json:"change"`
	Why    string `json:"why"`
	// Edits are the changes of cluster.yaml that belong to it. They were tried: the plan
	// with them resolves.
	Edits []Edit `json:"edits"`
}

// Edit is one key of cluster.yaml. An empty value takes the key out.
type Edit struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Network is what the machines share.
type Network struct {
	External *Link `json:"external,omitempty"`
	Private  Link  `json:"private"`
	// VIP is the API's, on Link; empty without one.
	VIP     string `json:"vip,omitempty"`
	VIPLink string `json:"vip_link,omitempty"`
}

// Link is a network of the plan.
type Link struct {
	Segment string `json:"segment"`
	CIDR    string `json:"cidr"`
	// Gateway is "by DHCP" where the plan gives none.
	Gateway string `json:"gateway"`
}
