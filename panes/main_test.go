package panes

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// victimEnv makes the test binary play the daemon that gets killed.
const victimEnv = "AKK_PANES_VICTIM"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == PassCommand {
		if PassPipe(os.Args[2], os.Args[3]) != nil {
			os.Exit(1)
		}
		return
	}
	if socket := os.Getenv(victimEnv); socket != "" {
		victim(socket)
		return
	}
	if socket := os.Getenv(chaosEnv); socket != "" {
		chaosDaemon(socket)
		return
	}
	goleak.VerifyTestMain(m)
}

// victim attaches, locks the pane by a Hold, says so and waits for its end.
func victim(socket string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Open(ctx, Options{Socket: socket, Owner: "victim", Transport: Transport(os.Getenv(victimEnv + "_TRANSPORT"))})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	if os.Getenv(victimEnv+"_TYPES") != "" {
		typer(ctx, s)
		return
	}
	for _, err := s.Screen("%0"); err != nil; _, err = s.Screen("%0") {
		time.Sleep(time.Millisecond)
	}
	in, _ := s.Pane("%0")
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Paste: "held", Hold: true}); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("holding")
	<-ctx.Done()
}

// transport lets the suite run over the other transport too:
// AKK_PANES_TRANSPORT=pipe go test ./panes
var transport = Transport(os.Getenv("AKK_PANES_TRANSPORT"))

// testLog hands a server's log to a test that failed.
func testLog(t testing.TB) *slog.Logger {
	var mu sync.Mutex
	var b bytes.Buffer
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if t.Failed() && b.Len() > 0 {
			t.Logf("the server's log:\n%s", b.String())
		}
	})
	return slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.Write(p)
	}), nil))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
