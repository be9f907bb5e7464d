// Package explore searches the reservation protocol of agent/ledger exhaustively:
// every order in which the requests of several processes can reach one server,
// with each process killed, or left without an answer, at any of its requests.
//
// A Server is the record's server as a value, so that the search can go back to a
// state: Model is a small one in memory, and a simulator of the real server can be
// another. Machines are values too. A state of the search is the server's, each
// process's machine, and the requests that were given up and may yet be done; all
// of them are numbered, so that a state is a few integers and is visited once.
package explore
