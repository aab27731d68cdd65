package panes

import (
	"context"
	"time"

	"akk/agents"
	"akk/vtparse"
)

// ServerID is the identity of one terminal server. A new server on the same
// socket is another identity: pane ids are reused after a restart.
type ServerID struct {
	Socket string    `json:"socket"` // absolute path
	PID    int       `json:"pid"`
	Start  time.Time `json:"start"` // tmux's start_time, whole seconds
}

// Identity is what must still be true when a byte is typed: the server, the
// pane and the process in it. A pane id alone is never an identity.
type Identity struct {
	Server   ServerID  `json:"server"`
	Pane     string    `json:"pane"` // "%3"
	PanePID  int       `json:"pane_pid"`
	PaneBorn time.Time `json:"pane_born"` // start time of the pane's process
}

// Info is what is known of a pane beside its screen. It is a value.
type Info struct {
	Identity
	SessionID   string `json:"session_id"` // "$1"
	SessionName string `json:"session"`
	WindowID    string `json:"window_id"` // "@2"
	WindowIndex int    `json:"window"`
	WindowName  string `json:"window_name"`
	PaneIndex   int    `json:"pane_index"`
	Cols, Rows  int    `json:"-"`
	Command     string `json:"command"` // pane_current_command
	Cwd         string `json:"cwd"`     // of the pane's foreground process, real path where readable
	TTY         string `json:"tty"`
	Active      bool   `json:"active"`       // the active pane of its window
	Dead        bool   `json:"dead"`         // remain-on-exit
	InMode      bool   `json:"in_mode"`      // copy mode or another mode has the keys
	Synced      bool   `json:"synchronized"` // synchronize-panes is on
	InputOff    bool   `json:"input_off"`
	// Unsynced is since when the mirror does not follow the pane, zero: it does.
	// The newest screen is then an old one, or there is none. UnsyncedWhy is the
	// reason, with the cure behind "; ".
	Unsynced    time.Time `json:"unsynced,omitzero"`
	UnsyncedWhy string    `json:"unsynced_why,omitempty"`
	Sidebar     bool      `json:"-"`              // carries @akk_sidebar: ours, never listed
	Demo        string    `json:"demo,omitempty"` // value of @akk_demo: a recording plays here, never a send target
}

// UpdateKind says what an Update is about.
type UpdateKind int

// The kinds. Frame comes 10-20 ms after the last byte, or at once at the end
// of a synchronized update: then a reading may be reported. Screen comes at
// every chunk that is no frame's end (latest value wins).
const (
	UpdateScreen UpdateKind = iota + 1
	UpdateFrame
	UpdateInfo       // Info changed, or a pane appeared
	UpdateGone       // the pane is gone
	UpdateServerGone // the whole server is gone; no more updates follow
)

// Update is one element of the state stream.
type Update struct {
	Kind   UpdateKind
	Pane   string
	Screen *vtparse.Screen // Screen and Frame
	Info   *Info           // Info; never changed afterwards
	Time   time.Time       // when the newest byte or event arrived
}

// Provider is a terminal server with live mirrors. tmux is one; the desk knows
// no other type. All methods are safe for any goroutine.
type Provider interface {
	ID() ServerID
	Version() string // "3.3a"
	Panes() []Info   // in the server's order: session, window, pane
	Pane(id string) (Info, bool)

	// Screen returns the newest published screen, or ErrNoPane, or
	// ErrNotSynced while the first sync is not done.
	Screen(id string) (*vtparse.Screen, error)

	// Subscribe starts a state stream. It begins with an UpdateInfo and an
	// UpdateFrame for every pane. Close it when done.
	Subscribe() Subscription

	// Tap streams the raw bytes of a pane from now on, beginning with a screen
	// that they apply to.
	Tap(id string) (Tap, error)

	// Audit proves that the mirror equals the server's own screen at one
	// generation, and returns that screen. ErrMoving when the pane never held
	// still long enough; the caller may try again.
	Audit(ctx context.Context, id string) (*vtparse.Screen, error)

	// Input is the only way a byte goes into a pane.
	Input(ctx context.Context, w Write) (Sent, error)

	// Release ends a Hold of ours on a pane at once; nothing to end is no
	// error. Without it the dead-man's switch does so after 2 s.
	Release(ctx context.Context, id string) error

	// Processes returns the process tree below the pane's process, wrappers
	// included, parents before children.
	Processes(id string) []agents.Process

	Close() error
}

// Subscription is a state stream that never blocks its source: of several
// Screen or Frame updates of a pane only the newest is kept.
type Subscription interface {
	// Next waits for updates and returns all that are pending; the slice is
	// valid until the next call. It returns io.EOF after UpdateServerGone was delivered or after Close.
	Next(ctx context.Context) ([]Update, error)
	Close()
}

// Tap is a raw byte stream.
type Tap interface {
	Start() *vtparse.Screen
	// Next waits for the next chunk; io.EOF when the pane is gone. ErrGap when
	// the reader was too slow and bytes were dropped.
	Next(ctx context.Context) ([]byte, time.Time, error)
	Close()
}

// Write is one planned input. Exactly one of Paste and Keys is set.
type Write struct {
	Identity Identity // must still hold in the moment of typing
	// Cursor is the cursor that the caller's proof saw, tested by the server
	// itself in the same line that types; nil = not tested.
	Cursor *vtparse.Cursor
	// Shows are texts that the proof saw and that must still be on the screen,
	// each within one row as tmux shows it; tested in the same line. At most 8
	// of 1,000 bytes.
	Shows []string
	Paste string // sent as a bracketed paste if the application asked for it; no C0 but TAB and LF
	Keys  []byte // sent as they are
	// Still is asked right before the line that types goes out, behind the lock
	// and its quiet; an error refuses the write, nothing is typed. It must not
	// wait: the whole server's loop does. nil = not asked.
	Still func() error
	// Hold keeps the pane's input locked after the write (for at most 2 s, by a
	// dead-man's switch in the server); the next Write or Release ends it. A
	// Paste with a Hold and a proof (Cursor, Shows) is locked before it is typed
	// as well: the proof is tested after the pane was quiet for 60 ms, so that a
	// human's key that was not drawn yet does not fuse with the text.
	Hold bool
}

// Sent says what went out.
type Sent struct {
	Bytes int       // of the caller's text
	Time  time.Time // when the server confirmed
}
