// Package codex reads OpenAI Codex: its screen, its pane title, its program
// status (OSC 7501) and its rollout.
//
// It promises: who owns the next key is decided before anything is said about
// the composer; an empty composer is proven from cells (bold marker, faint
// placeholder, cursor between them); a dialog is one only if it stands at the
// bottom of the screen without a composer under it, so text in history, in an
// answer or in a draft never is; where evidence contradicts, both sides are in
// Why and the answer is unknown.
//
// It refuses: to take a missing "Working" row for the end of a turn (Codex
// hides it while text streams), to name a command that the screen shows in
// part only, and to guess which of two rollouts belongs to a process.
//
// Words and limits of a version are in profiles/*.toml; structure is here.
package codex
