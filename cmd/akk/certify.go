package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
	"akk/agents/lab"
	"akk/agents/registry"
	"akk/ui"

	"github.com/spf13/cobra"
)

// certifyFlags are the options of akk certify.
type certifyFlags struct {
	report, record, profile string
	only                    []string
	jobs                    int
	list, write             bool
}

func newCertify(a *app) *cobra.Command {
	var f certifyFlags
	c := &cobra.Command{
		Use:   "certify codex@VERSION|claude@VERSION",
		Short: "Run a real version of an agent against a scripted model and compare every reading with what is true",
		Long: `Fetches that version from npm into a cache (VERSION may be latest), runs it in a
private tmux server with a throwaway home against a scripted model, brings it
into every state that akk knows, and compares each reading with what the
script, the model's side, tmux's own screen and the agent's log know to be true.

A report is written in any case. If nothing differs the profile entry is
printed, or written into the settings folder with --write. If something does,
each place is told: scenario, step, axis, expected, read, rows; the exit code
is 1. It takes some minutes and needs npm, tmux and Linux, but no daemon.`,
		Args: func(c *cobra.Command, args []string) error {
			if f.list {
				return cobra.MaximumNArgs(1)(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listScenes(registry.All())
			}
			return a.certify(c.Context(), args[0], f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.report, "report", "", "write the report to `file`, - = standard output (default docs/certified/AGENT-VERSION.md if that folder is here, else AGENT-VERSION.md)")
	fl.StringVar(&f.record, "record", "", "keep a recording of each scenario with its truth in `folder`")
	fl.StringVar(&f.profile, "profile", "", "judge with this profile `file` before all others")
	fl.StringSliceVar(&f.only, "only", nil, "run only these `scenarios`, see --list; gives no profile entry")
	fl.IntVar(&f.jobs, "jobs", 2, "how many (`n`) scenarios run at a time")
	fl.BoolVar(&f.list, "list", false, "list the scenarios (of both agents, or of the one named) and run nothing")
	fl.BoolVar(&f.write, "write", false, "write the profile entry into the settings folder when nothing differs")
	return c
}

func (a *app) certify(ctx context.Context, what string, f certifyFlags) error {
	name, version, ok := strings.Cut(what, "@")
	kind := agents.Kind(name)
	if !ok && f.list {
		ok, version = true, "latest"
	}
	if !ok || version == "" || registry.For(kind) == nil {
		return usagef("certify wants codex@VERSION or claude@VERSION, VERSION as 0.171.0 or latest, got %q", what)
	}
	if f.list {
		return a.listScenes([]agents.Agent{registry.For(kind)})
	}
	for _, o := range f.only {
		if !hasScene(kind, o) {
			return usagef("%s has no scenario %q, see akk certify %s --list", kind, o, kind)
		}
	}
	if f.jobs < 1 {
		return usagef("--jobs must be 1 or more")
	}
	if errs := a.profileErrs(); len(errs) > 0 {
		return fail("correct or remove the file, or name another settings folder with --config", "use the settings folder's profiles: %v", errs[0])
	}
	if f.profile != "" {
		if _, err := readProfile(f.profile); err != nil {
			return fail("give the path of a profile (TOML)", "read the profile: %v", err)
		}
	}
	if runtime.GOOS != "linux" {
		return fail("run it on Linux", "certify reads processes from /proc")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		return fail("install tmux 3.2 or newer, e.g. sudo apt-get install tmux", "tmux is missing")
	}
	b, err := lab.Install(ctx, kind, version, "")
	if errors.Is(err, lab.ErrBadVersion) {
		return &usage{err: err}
	}
	if err != nil {
		return err
	}
	agent, source, base, err := a.judge(kind, b.Version, f.profile)
	if err != nil {
		return err
	}
	a.note("%s %s is installed; the suite runs, this takes some minutes", kind, b.Version)
	rep, err := lab.Certify(ctx, agent, b, lab.CertifyOptions{Only: f.only, Record: f.record, Jobs: f.jobs, Tell: func(scene string, part []lab.Check) {
		a.note("%s: %d checks, %d differ", scene, len(part), len(lab.Report{Checks: part}.Wrong()))
	}})
	if err != nil {
		return err
	}
	rep.Source = source
	return a.certified(rep, base, f)
}

// listScenes lists the scenarios of those agents.
func (a *app) listScenes(of []agents.Agent) error {
	var rows [][]string
	for _, agent := range of {
		for _, sc := range lab.Scenes(agent.Kind()) {
			row := []string{sc.Name, sc.Covers}
			if len(of) > 1 {
				row = append([]string{string(agent.Kind())}, row...)
			}
			rows = append(rows, row)
		}
	}
	return ui.Table(a.out, rows)
}

// readProfile reads the file of --profile.
func readProfile(name string) ([]byte, error) {
	b, err := agents.ReadProfile(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, pathless(err, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func hasScene(kind agents.Kind, name string) bool {
	for _, sc := range lab.Scenes(kind) {
		if sc.Name == name {
			return true
		}
	}
	return false
}

// judge is the reader that is judged: with the named profile file, else with
// the profile that covers the version, else with the nearest one alone. base
// is the text to which an entry belongs, "" for none.
func (a *app) judge(kind agents.Kind, version, file string) (agent agents.Agent, source, base string, err error) {
	if file == "" {
		r := registry.For(kind)
		switch c, own := covers(r, version); {
		case own:
			return r, "from the settings folder", "", nil
		case c:
			return r, "embedded", "", nil
		}
	}
	text := (lab.Report{Agent: kind, Version: version}).Entry("")
	text, _, _ = strings.Cut(text, "\n[[certified]]")
	source = "the nearest embedded profile; none covers this version"
	if file != "" {
		b, err := readProfile(file)
		if err != nil {
			return nil, "", "", fail("give the path of a profile (TOML)", "read the profile: %v", err)
		}
		text, source = string(b), "the file "+filepath.Base(file)
	} else {
		file = string(kind) + ".toml"
	}
	dir, err := os.MkdirTemp("", "akk-certify-")
	if err != nil {
		return nil, "", "", err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600); err != nil {
		return nil, "", "", err
	}
	var errs []error
	if kind == agents.Codex {
		agent, errs = codex.With(os.DirFS(dir), ".")
	} else {
		agent, errs = claude.With(os.DirFS(dir), ".")
	}
	if len(errs) > 0 {
		return nil, "", "", fail("correct the file", "use the profile %s: %v", file, errs[0])
	}
	if c, own := covers(agent, version); !c || !own {
		return nil, "", "", fail("set its from and to", "the profile %s does not cover version %s", file, version)
	}
	return agent, source, text, nil
}

// covers tells whether a profile covers the version, and whether it is a user's own.
func covers(a agents.Agent, version string) (covered, own bool) {
	c, ok := a.(interface{ Covers(string) (bool, bool) })
	if !ok {
		return false, false
	}
	return c.Covers(version)
}

// certified writes the report and, when it is clean, the entry.
func (a *app) certified(rep lab.Report, base string, f certifyFlags) error {
	name := fmt.Sprintf("%s-%s.md", rep.Agent, rep.Version)
	path := f.report
	if path == "" {
		path = name
		if st, err := os.Stat(filepath.Join("docs", "certified")); err == nil && st.IsDir() {
			path = filepath.Join("docs", "certified", name)
		}
	}
	var text strings.Builder
	if _, err := rep.WriteTo(&text); err != nil {
		return err
	}
	if path == "-" {
		a.printf("%s", text.String())
	} else if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return fail("choose another place with --report", "write the report: %v", err)
	}
	if a.json {
		if err := a.print(rep); err != nil {
			return err
		}
	}
	for _, w := range rep.Where() {
		a.note("%s", oneLine(w))
	}
	if !rep.Clean() {
		a.note("%s %s is not certified: %d of %d checks differ; the report is %s", rep.Agent, rep.Version, len(rep.Wrong()), len(rep.Checks), path)
		return reported{}
	}
	a.note("%s %s: nothing differs in %d checks and %d readings; the report is %s", rep.Agent, rep.Version, len(rep.Checks), rep.Readings, path)
	if len(f.only) > 0 {
		a.note("only some scenarios ran: this certifies nothing")
		return nil
	}
	if !f.write {
		if !a.json && path != "-" {
			a.printf("%s", rep.Entry(base))
		}
		return nil
	}
	to := filepath.Join(a.profileDir(), string(rep.Agent), rep.Version+".toml")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fail("make the settings folder writable", "write the profile entry: %v", err)
	}
	if err := os.WriteFile(to, []byte(rep.Entry(base)), 0o600); err != nil {
		return fail("make the settings folder writable", "write the profile entry: %v", err)
	}
	a.note("the profile entry is %s; restart the daemon to use it", to)
	return nil
}
