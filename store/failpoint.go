package store

// This file holds the fail points: places where a crash test may stop the
// process. Outside of a test binary they can't be set and cost one load.

import (
	"sync/atomic"
	"testing"
)

var testOnlyFailPoint atomic.Pointer[func(string)]

// TestOnlyFailPoint makes every fail point call fn with its name; nil ends it.
// It panics outside of a test binary.
func TestOnlyFailPoint(fn func(name string)) {
	if !testing.Testing() {
		panic("store: fail points are for tests")
	}
	if fn == nil {
		testOnlyFailPoint.Store(nil)
		return
	}
	testOnlyFailPoint.Store(&fn)
}

// FailAt is a fail point outside of this package.
func FailAt(name string) { failAt(name) }

func failAt(name string) {
	if fn := testOnlyFailPoint.Load(); fn != nil {
		(*fn)(name)
	}
}
