package lab

import "errors"

var (
	// ErrNoNPM is returned by Install when a version must be fetched and there
	// is no npm.
	ErrNoNPM = errors.New("npm is not installed; install Node.js 20 or newer, or set AKK_LAB_CACHE to a folder that holds the version")
	// ErrInstall is returned by Install when npm could not fetch the version;
	// npm's own words follow.
	ErrInstall = errors.New("npm could not install it; check the version's name and the registry")
	// ErrNoVersion is returned by Install and Latest when the registry answers
	// that it has no such version.
	ErrNoVersion = errors.New("the registry has no such version; look at the published ones with `npm view PACKAGE versions`")
	// ErrNetwork is returned by Install and Latest when the registry can't be
	// reached; npm's own words follow.
	ErrNetwork = errors.New("npm's registry can't be reached; check the network and `npm ping`, or set AKK_LAB_CACHE to a folder that holds the version")
	// ErrNoBinary is returned when an installed package holds no program for
	// this platform that names the wanted version.
	ErrNoBinary = errors.New("the package has no program for this platform that names this version")
	// ErrBadVersion is returned for a version that is not a number such as 2.1.267.
	ErrBadVersion = errors.New("not a version; write it as 0.155.1, or latest")
	// ErrUnknownAgent is returned for an agent that the lab does not know.
	ErrUnknownAgent = errors.New("the lab knows codex and claude only")
	// ErrNoTmux is returned by NewServer without a tmux.
	ErrNoTmux = errors.New("tmux is not installed; install tmux 3.2 or newer")
	// ErrTimeout is returned when a screen, a log or the model never came to the
	// wanted state; the last screen follows.
	ErrTimeout = errors.New("the wanted state did not come in time")
	// ErrNoLog is returned while the agent has written no rollout or transcript.
	ErrNoLog = errors.New("the agent has written no log yet; it does at its first turn")
	// ErrUnreachable is returned by Reach for a state that this agent doesn't have.
	ErrUnreachable = errors.New("the agent has no such state")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the lab is closed")
)
