//go:build race

package vtparse_test

const raceEnabled = true
