package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// This file reads the kernel's own counts, in nanoseconds of CPU time. Each core's
// time counts, however slow the core was: what was used while the machine was
// slowed down from outside is told apart.

// spell is how long the pieces are that the time is counted in.
const spell = 200 * time.Millisecond

// usage is CPU seconds of cpus in so many seconds.
type usage struct {
	cpu     [3]float64
	seconds float64
}

func (u *usage) add(cpu, before [3]float64, took time.Duration) {
	for i := range cpu {
		u.cpu[i] += cpu[i] - before[i]
	}
	u.seconds += took.Seconds()
}

// percent is the part of a core that one of them took.
func (u *usage) percent(i int) float64 {
	if u.seconds == 0 {
		return 0
	}
	return 100 * u.cpu[i] / u.seconds
}

// meter counts CPU time until its end.
type meter struct {
	began, ended time.Time
	stop         chan struct{}
	done         chan [2]usage // of all pieces, of those at the machine's own speed
}

func (w *server) meter(o *observer) *meter {
	m := &meter{began: time.Now(), stop: make(chan struct{}), done: make(chan [2]usage, 1)}
	go func() {
		t := time.NewTicker(spell)
		defer t.Stop()
		var u [2]usage
		at, before := m.began, w.cpus(o)
		for more := true; more; {
			select {
			case <-t.C:
			case <-m.stop:
				more = false
			}
			now, cpu := time.Now(), w.cpus(o)
			u[0].add(cpu, before, now.Sub(at))
			if !w.speed.Slow(at, now) {
				u[1].add(cpu, before, now.Sub(at))
			}
			at, before = now, cpu
		}
		m.done <- u
	}()
	return m
}

// end returns what was used in all, and in the pieces in which the machine was
// never slow.
func (m *meter) end() (all, brisk usage) {
	m.ended = time.Now()
	close(m.stop)
	u := <-m.done
	return u[0], u[1]
}

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
