// Package daytwo renders the README of a generated tree: the exact commands that
// make this cluster, and the order in which a living one is changed without
// losing replies.
//
// It reads nothing and holds no state: same plan, same bytes, without the header
// of generated files, which the writer of the tree adds.
package daytwo
