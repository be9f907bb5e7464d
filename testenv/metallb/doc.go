// Package metallb holds the test that MetalLB v0.15.2 itself takes what
// talosgen/gitops renders: its API types decode it strictly, its CRDs' schemas
// validate it with the API server's code, and its controller's parser makes the
// intended pools and announcements of it.
//
// It reads the golden files of talosgen/gitops, which that package's own tests
// hold to what it renders. So this module needs nothing of the product's, whose
// dependencies would pull MetalLB's out of step.
package metallb
