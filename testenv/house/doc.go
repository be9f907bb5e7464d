// Package house holds the rules of the house as tests: the names at the top, who
// may import whom, what each program may pull in, and the size of files and
// functions. It has no code of its own.
package house
