package netplan

// Fault is one mistake in a plan.
type Fault struct {
	// Path is the field that should change, in the layout of the documentation
	// ("proxmox.network.external.gateway").
	Path string
	// Message says what is wrong and what would be right.
	Message string
	// Other is the path of the other party, empty when there is none.
	Other string
}

// Error gives the fault as one line.
func (f Fault) Error() string {
	if f.Other == "" {
		return f.Path + ": " + f.Message
	}
	return f.Path + ": " + f.Message + " (" + f.Other + ")"
}
