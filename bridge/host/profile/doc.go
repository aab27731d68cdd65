// Package profile reads Host Profile v1: the file by which an administrator
// says which Host owns a bridge, where its trusted session identity comes from
// and which command carries a callback to it (R189 to R212).
//
// It promises: a file is taken whole or refused with every fault named by JSON
// Pointer and line; the shipped JSON Schema and the parser agree wherever a
// schema can tell; a profile that was read is a value, and Changed tells when
// its file is not that any more.
//
// It refuses: unknown and repeated fields at every level, other versions,
// anything unbounded, shells, variables that change how programs are loaded,
// the callback's body in an argument. It runs nothing and writes nothing.
package profile
