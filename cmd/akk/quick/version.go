package quick

// Version is akk's, set by the Makefile. It lives here because the quick answer
// is given before package main has variables.
var Version = "dev"
