// Package report says which failures a cluster survives, and what its survival
// rests on: from the plan, and as far as they were read from what Proxmox and
// Kubernetes say. It is pure: Facts in, one Report out, and the same facts give the
// same report. Rendering is in the package render, reading a cluster in kube.
//
// A report interprets what is declared. It takes the declared replicas as healthy,
// and says what it does not know as unknown. Only Report.Measured was measured.
package report
