# akk's commands for people who work on it. Rule: two commands are enough on a
# fresh machine (`make run`, `make test`); whatever else they need is installed
# by apt where this user may, else named in one sentence.

SHELL := /bin/bash
.DEFAULT_GOAL := build

GO      ?= go
GO_MIN  := 1.26
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The checkout may belong to another user than the one who builds (CI as root):
# git then refuses to be asked by go, so the version is passed by hand.
GOBUILD := CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath -ldflags "-X akk/cmd/akk/quick.Version=$(VERSION)"

# Fuzzing per target of fuzz, streams of fuzz-vt, idling in bench.
FUZZTIME ?= 30s
STREAMS  ?= 2000
IDLE     ?= 60s
# Random moments of crash.
CRASH    ?= 300
# How long chaos-mirror goes on.
CHAOS_TIME ?= 10m
# Flags of bench-mirror (-for 10s -panes 20,200 -sessions 1,20 -ways none,bare,akk,pipe,poll-1s,poll-200ms).
MIRROR   ?=
# Recordings for truth and bench-read, bytes between two readings of truth.
RECORDINGS ?=
PIECE      ?= 1
# Worst cases of the suite: the whole of it must end below 5 minutes.
TESTTIME ?= 290s

.PHONY: run build test lint live hosts crash rapid bench bench-desk bench-mirror bench-bridge bench-vt truth bench-read chaos-mirror fuzz-vt fuzz cover clean help need-go need-tmux need-cc

run: need-tmux build ## build akk and open it
	./akk

build: need-go ## build ./akk
	$(GOBUILD) -o akk ./cmd/akk

test: need-go need-tmux need-cc ## the whole suite with the race detector
	CGO_ENABLED=1 $(GO) test -buildvcs=false -race -timeout $(TESTTIME) ./...

lint: need-go ## gofmt, go vet, staticcheck, govulncheck
	@bad="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$bad" ]; then echo "not gofmt'ed:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@out="$$($(GO) tool govulncheck ./... 2>&1)"; rc=$$?; echo "$$out"; \
	if [ $$rc -ne 0 ] && grep -qiE 'vuln\.go\.dev|no such host|dial tcp|connection refused|timeout' <<<"$$out"; then \
	  echo "govulncheck: the vulnerability database (vuln.go.dev) can't be reached from here; nothing was checked"; \
	else exit $$rc; fi

live: need-tmux build ## real Codex and Claude Code against a scripted model server (installs them from npm into a cache)
	AKK_LIVE=1 CGO_ENABLED=0 $(GO) test -buildvcs=false -count=1 -p 1 -timeout 60m -v -run 'Live' ./agents/lab/... ./bridge/host/live

hosts: need-tmux build ## MCP Hosts from npm (1 GB and more) list the tools of host-bridge; two clients call them all
	AKK_HOSTS=1 CGO_ENABLED=0 $(GO) test -buildvcs=false -count=1 -timeout 60m -v -run 'TestHosts' ./agents/lab/live
	AKK_CONFORMANCE=1 $(GO) test -buildvcs=false -count=1 -timeout 15m -v -run TestConformance ./bridge/mcp

crash: need-tmux ## the daemon killed at every fail point and at 300 (CRASH=n) random moments of tasks, holds, interrupts, watches and callbacks, on a real tmux
	AKK_CRASH=$(CRASH) $(GO) test -buildvcs=false -count=1 -timeout 120m -run 'TestCrash' -v ./bridge/daemon ./store

rapid: need-go ## 10,000 random schedules of hosts, humans, agents and crashes over the desk and its pure machines
	$(GO) test -buildvcs=false -count=1 -timeout 60m -run 'Invariants|Schedules|Model' -v ./bridge/handoff ./bridge/outbox -rapid.checks=10000

bench: need-tmux build ## byte in a pane -> line of `akk events`, beside a capture-pane loop
	$(GO) run -buildvcs=false ./cmd/akk/bench -akk ./akk -idle $(IDLE)

bench-desk: need-tmux build ## the desk with 100 terminals and 10,000 old turns: list, send, events, processes
	$(GO) run -buildvcs=false ./cmd/akk/bench -akk ./akk -desk

bench-mirror: need-go need-tmux ## the mirrors beside a bare control client and capture-pane loops: latency, CPU, memory, against their bars
	@mkdir -p dist
	$(GO) build -buildvcs=false -o dist/bench-mirror ./panes/bench && ./dist/bench-mirror $(MIRROR)

bench-bridge: need-tmux build ## tools/call of list and status through host-bridge, 50 terminals, 1 and 20 clients
	$(GO) run -buildvcs=false ./cmd/akk/bench -akk ./akk -bridge

bench-vt: need-go need-tmux ## the terminal emulator's speed beside libraries, a bare parser and tmux
	$(GO) test -buildvcs=false -run '^$$' -bench . -benchtime 1s ./vtparse/bench

truth: need-go ## every byte prefix of the recordings (RECORDINGS=dir:dir, default: those in testdata; PIECE bytes at a time, 0 = chunk by chunk)
	AKK_RECORDINGS="$(RECORDINGS)" AKK_PIECE=$(PIECE) $(GO) test -buildvcs=false -count=1 -timeout 60m -v -run 'TestEveryPrefix' ./agents/truth

bench-read: need-go ## how long a reading takes after one changed frame of the recordings, and what it allocates
	AKK_RECORDINGS="$(RECORDINGS)" $(GO) test -buildvcs=false -count=1 -timeout 20m -run 'TestAllocations' -v -bench ReadFrames -benchtime 1x ./agents/truth

chaos-mirror: need-go need-tmux need-cc ## a tmux server of 60 panes changed at random for CHAOS_TIME, the daemon stopped and killed: every mirror equals tmux (CHAOS_SEED repeats a run)
	CHAOS_TIME=$(CHAOS_TIME) CGO_ENABLED=1 $(GO) test -buildvcs=false -race -count=1 -timeout 0 -v -run 'TestChaosMirror|TestHumanTypesAllTheTime' ./panes

fuzz-vt: need-go need-tmux ## the emulator against a live tmux: STREAMS random streams
	$(GO) test -buildvcs=false -count=1 -run TestDifferential -timeout 30m -v ./vtparse/difftest -streams $(STREAMS)

fuzz: need-go ## every Go fuzz target for FUZZTIME each
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -buildvcs=false -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -buildvcs=false -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

cover: need-go need-tmux ## coverage of the whole suite
	$(GO) test -buildvcs=false -timeout $(TESTTIME) -coverprofile cover.out -coverpkg ./... ./...
	$(GO) tool cover -func cover.out | tail -1

clean: ## remove what was built
	rm -rf akk dist cover.out

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1  /p' $(firstword $(MAKEFILE_LIST))

# What a machine must have. $(call install,packages) uses apt where it may.
define install
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  apt-get install -y --no-install-recommends $(1) || { apt-get update && apt-get install -y --no-install-recommends $(1); }; \
elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then \
  sudo -n apt-get install -y --no-install-recommends $(1) || { sudo -n apt-get update && sudo -n apt-get install -y --no-install-recommends $(1); }; \
fi
endef

need-go:
	@command -v $(GO) >/dev/null || { echo "akk: Go is missing"; echo "  cure: install Go $(GO_MIN) or newer from https://go.dev/dl/ and have it in PATH"; exit 1; }

need-tmux:
	@command -v tmux >/dev/null || { $(call install,tmux) ; } ; \
	command -v tmux >/dev/null || { echo "akk: tmux is missing and can't be installed from here (no apt, or no right to use it)"; echo "  cure: install tmux 3.2 or newer with your system's package manager, e.g. sudo apt-get install tmux"; exit 1; }

need-cc:
	@probe() { echo '#include <stdlib.h>' | $$($(GO) env CC) -E -x c - >/dev/null 2>&1; }; \
	probe || { $(call install,gcc libc6-dev) ; } ; \
	probe || { echo "akk: a C compiler with its headers is missing (Go's race detector needs one) and can't be installed from here"; echo "  cure: install gcc and the C library's headers, e.g. sudo apt-get install gcc libc6-dev"; exit 1; }
