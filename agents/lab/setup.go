package lab

// How a scenario starts its agent: with questions before the first composer,
// with an MCP server, with a catalog of its own.

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed notes.mjs
var notesServer []byte

// notes writes the MCP server into the session's folder and returns the
// program and the argument that start it.
func notes(p Paths) (program, script string, err error) {
	script = filepath.Join(p.Root, "notes.mjs")
	if err := os.WriteFile(script, notesServer, 0o600); err != nil {
		return "", "", fmt.Errorf("write the MCP server: %w", err)
	}
	if program, err = exec.LookPath("node"); err != nil {
		return "", "", fmt.Errorf("find node for the MCP server: %w", err)
	}
	return program, script, nil
}

// edit changes a text file of the session's home.
func edit(path string, change func(string) string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("change the session's home: %w", err)
	}
	return os.WriteFile(path, []byte(change(string(b))), 0o600)
}

func codexConfig(p Paths) string { return filepath.Join(p.Config, "config.toml") }

// withNotes gives Codex the MCP server.
func withNotes(_ Binary, o *Options) {
	o.Prepare = func(p Paths) error {
		program, script, err := notes(p)
		if err != nil {
			return err
		}
		return edit(codexConfig(p), func(s string) string {
			return s + fmt.Sprintf("\n[mcp_servers.notes]\ncommand = %s\nargs = [%s]\n", strconv.Quote(program), strconv.Quote(script))
		})
	}
}

// untrusted makes Codex ask about the folder.
func untrusted(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		return edit(codexConfig(p), func(s string) string { return strings.ReplaceAll(s, `trust_level = "trusted"`, "") })
	}
}

// withNews lets Codex offer its newer model.
func withNews(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		return edit(codexConfig(p), func(s string) string {
			head, _, _ := strings.Cut(s, "[notice.model_migrations]")
			return head
		})
	}
}

// withUpdate makes Codex know of a newer version than itself; the offer is
// made to npm's installation only.
func withUpdate(b Binary, o *Options) {
	o.NotReady, o.Wrapper = true, true
	o.Prepare = func(p Paths) error {
		doc := fmt.Sprintf(`{"latest_version":"99.0.0","last_checked_at":%q,"dismissed_version":null}`, time.Now().UTC().Format(time.RFC3339))
		if err := os.WriteFile(filepath.Join(p.Config, "version.json"), []byte(doc), 0o600); err != nil {
			return fmt.Errorf("prepare the update's offer: %w", err)
		}
		return edit(codexConfig(p), func(s string) string {
			return strings.Replace(s, "check_for_update_on_startup = false", "check_for_update_on_startup = true", 1)
		})
	}
}

// loggedOut leaves Codex without a provider of ours: it asks how to log in.
func loggedOut(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		return os.WriteFile(codexConfig(p), []byte("check_for_update_on_startup = false\n[analytics]\nenabled = false\n"), 0o600)
	}
}

// withAsync gives the model of the suite Codex's question that does not stop
// the turn, by a catalog made from the version's own.
func withAsync(b Binary, o *Options) {
	o.Prepare = func(p Paths) error {
		cmd := exec.Command(b.Native, "debug", "models", "--bundled")
		cmd.Env = []string{"HOME=" + p.Home, "CODEX_HOME=" + p.Config, "PATH=/usr/bin:/bin"}
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("ask %s for its model catalog: %w", b.Version, err)
		}
		var doc struct {
			Models []map[string]any `json:"models"`
		}
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&doc); err != nil {
			return fmt.Errorf("read the model catalog of %s: %w", b.Version, err)
		}
		var kept []map[string]any
		for _, m := range doc.Models {
			if m["slug"] == "gpt-5.5" {
				m["experimental_supported_tools"] = []string{"request_user_input_async"}
				kept = append(kept, m)
			}
		}
		catalog, err := json.Marshal(map[string]any{"models": kept})
		if err != nil {
			return fmt.Errorf("write the model catalog: %w", err)
		}
		file := filepath.Join(p.Config, "catalog.json")
		if err := os.WriteFile(file, catalog, 0o600); err != nil {
			return fmt.Errorf("write the model catalog: %w", err)
		}
		return edit(codexConfig(p), func(s string) string { return "model_catalog_json = " + strconv.Quote(file) + "\n" + s })
	}
}

func painted(_ Binary, o *Options) {
	o.Style = "fg=#c8c8c8,bg=#101018"
	o.Env = map[string]string{"COLORTERM": "truecolor"}
}
func small(_ Binary, o *Options)   { o.Cols, o.Rows = 60, 20 }
func inShell(_ Binary, o *Options) { o.Shell = true }
func ownDaemon(_ Binary, o *Options) {
	o.Daemon = true
}

func claudeState(p Paths) string { return filepath.Join(p.Config, ".claude.json") }

// editJSON changes one of Claude Code's files.
func editJSON(path string, change func(map[string]any)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("change the session's home: %w", err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("change %s: %w", filepath.Base(path), err)
	}
	change(doc)
	if b, err = json.MarshalIndent(doc, "", " "); err != nil {
		return fmt.Errorf("change %s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, b, 0o600)
}

func vimMode(_ Binary, o *Options) {
	o.Settings = map[string]any{"editorMode": "vim"}
	o.Prepare = func(p Paths) error {
		return editJSON(claudeState(p), func(doc map[string]any) { doc["editorMode"] = "vim" })
	}
}

func planMode(_ Binary, o *Options) {
	o.Settings = map[string]any{"permissions": map[string]any{"defaultMode": "plan"}}
}

func fullscreen(_ Binary, o *Options) { o.Settings = map[string]any{"tui": "fullscreen"} }

// withSecret puts a file outside of the project.
func withSecret(_ Binary, o *Options) {
	o.Prepare = func(p Paths) error {
		return os.WriteFile(filepath.Join(p.Outside, "secret.txt"), []byte("alpha\n"), 0o600)
	}
}

// withProjectNotes gives the project an MCP server that nobody has agreed to.
func withProjectNotes(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		program, script, err := notes(p)
		if err != nil {
			return err
		}
		b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"notes": map[string]any{"type": "stdio", "command": program, "args": []string{script}}}})
		if err != nil {
			return fmt.Errorf("write .mcp.json: %w", err)
		}
		return os.WriteFile(filepath.Join(p.Project, ".mcp.json"), b, 0o600)
	}
}

func untrustedFolder(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		return editJSON(claudeState(p), func(doc map[string]any) { delete(doc, "projects") })
	}
}

func unknownKey(_ Binary, o *Options) {
	o.NotReady = true
	o.Prepare = func(p Paths) error {
		return editJSON(claudeState(p), func(doc map[string]any) { delete(doc, "customApiKeyResponses") })
	}
}

// firstStart leaves Claude Code without a state. With a token instead of a key
// it asks nobody on the network first.
func firstStart(_ Binary, o *Options) {
	o.NotReady = true
	o.Env = map[string]string{"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "lab-fake-token"}
	o.Prepare = func(p Paths) error { return os.Remove(claudeState(p)) }
}
