package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// This file reads the kernel's own counts, in nanoseconds of CPU time.

// cpus are the CPU seconds of an observer, of what it started (those that have
// ended too), and of the tmux server.
func (w *server) cpus(o *observer) (c [3]float64) {
	c[2] = cpu(w.pid)
	if o != nil {
		pid := o.cmd.Process.Pid
		c[0] = cpu(pid)
		c[1] = ended(pid)
		for _, k := range children(pid) {
			c[1] += cpu(k)
		}
	}
	return c
}

func cpu(pid int) float64 {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	sum := 0.0
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		if f := strings.Fields(string(b)); len(f) > 0 {
			ns, _ := strconv.ParseFloat(f[0], 64)
			sum += ns / 1e9
		}
	}
	return sum
}

// ended is the CPU time of the children that were waited for.
func ended(pid int) float64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 15 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[13], 64)
	sys, _ := strconv.ParseFloat(f[14], 64)
	return (user + sys) / 100 // USER_HZ
}

func children(pid int) []int {
	var out []int
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		for _, f := range strings.Fields(string(b)) {
			if k, err := strconv.Atoi(f); err == nil {
				out = append(out, k)
			}
		}
	}
	return out
}

// resident is a process's memory in MB.
func resident(pid int) float64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(v)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
