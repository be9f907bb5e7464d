//go:build !linux && !darwin

package outdir

// lock does nothing where there is no flock: unique names keep two writers from
// harming each other's files, but the tree may be a mixture of both.
func lock(string) (unlock func(), held bool) { return func() {}, false }
