// Package talos114 tests what talosgen writes for Talos 1.14 with the machinery
// of that version, v1.14.0-alpha.2, the newest that module proxies serve. It is a
// module of its own, since one build can hold only one version of machinery, and
// reads talosgen's golden files, which talosgen's own tests keep true.
//
// The limit of it: the alpha does not know KubeNodeConfig and KubeStaticPodConfig.
// These are left out of what it loads. They are compared, field by field, with
// the documents in testdata/accepted, which talosctl 1.14.0-rc.1 accepted with
// `validate --strict`.
package talos114
