package profile

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file holds which names may not be used: variables that change how a
// program is loaded or what it runs first, and programs that run whatever they
// are told.

const (
	// nameMax bounds a variable's name in characters (R196).
	nameMax = 128
	// relayPrefix is reserved for the bridge itself (R196).
	relayPrefix = "AKK_HOST_PROFILE_"
)

var variableForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`) })

// unsafePrefixes and unsafeVariables: R196 names DYLD_*, LD_PRELOAD,
// LD_LIBRARY_PATH, NODE_OPTIONS, NODE_PATH, BASH_ENV, ENV and SHELLOPTS as
// examples; the others are of the same kinds.
var (
	unsafePrefixes  = []string{"DYLD_", "LD_", relayPrefix}
	unsafeVariables = []string{
		"BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "GCONV_PATH", "IFS", "JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "NODE_PATH",
		"PERL5LIB", "PERL5OPT", "PROMPT_COMMAND", "PS4", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "RUBYLIB", "RUBYOPT",
		"SHELLOPTS", "ZDOTDIR",
	}
)

// unsafeVariable tells why a name may not be used, "" if it may.
func unsafeVariable(name string) string {
	switch {
	case strings.HasPrefix(name, relayPrefix):
		return "is reserved for akk"
	case slices.ContainsFunc(unsafePrefixes, func(p string) bool { return strings.HasPrefix(name, p) }), slices.Contains(unsafeVariables, name):
		return "changes how programs are loaded or what a shell runs first"
	}
	return ""
}

// shells are the names that R199 refuses.
var shells = []string{"bash", "cmd", "csh", "dash", "env", "fish", "ksh", "powershell", "pwsh", "sh", "tcsh", "zsh"}

// moreShells are refused where a file can be looked at: they run what they are
// told, too.
var moreShells = []string{"ash", "busybox", "elvish", "ksh93", "lksh", "mksh", "nu", "oksh", "rbash", "rksh", "rzsh", "toybox", "xonsh", "yash"}

// shellName tells whether the last part of a path is a shell's name, also in
// capitals or with Windows' ending.
func shellName(p string) bool {
	base := strings.TrimSuffix(strings.ToLower(path.Base(p)), ".exe")
	return slices.Contains(shells, base) || slices.Contains(moreShells, base)
}
