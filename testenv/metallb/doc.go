// Package metallb holds the test that MetalLB v0.15.2 itself takes what
// talosgen/gitops renders: its API types decode it strictly, its CRDs' schemas
// validate it with the API server's code, and its controller's parser makes the
// intended pools and announcements of it.
package metallb
