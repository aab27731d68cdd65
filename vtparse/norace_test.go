//go:build !race

package vtparse_test

const raceEnabled = false
