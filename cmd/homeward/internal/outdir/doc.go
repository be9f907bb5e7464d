// Package outdir keeps the generated tree on disk: it writes what changed, takes
// away what left the plan, shows the difference instead when asked, and never
// touches a file that is not ours.
//
// A file is ours when it carries our header: a first comment line (in a script
// behind the shebang, in JSON the field generated_by) with a format number and the
// plan's hash. The tool's version is not in it, so an upgrade alone changes
// nothing; same plan, same bytes.
//
// Everything is staged in temporary files beside its targets before the first
// rename, so a full or unwritable disk leaves every old file whole. Files are not
// synced one by one: after a power cut the same command makes the tree again.
// Two writers of one directory wait for each other where the system has flock.
package outdir
