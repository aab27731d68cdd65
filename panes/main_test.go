package panes

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// victimEnv makes the test binary play the daemon that gets killed.
const victimEnv = "AKK_PANES_VICTIM"

func TestMain(m *testing.M) {
	if socket := os.Getenv(victimEnv); socket != "" {
		victim(socket)
		return
	}
	goleak.VerifyTestMain(m)
}

// victim attaches, locks the pane by a Hold, says so and waits for its end.
func victim(socket string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Open(ctx, Options{Socket: socket, Owner: "victim"})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	if os.Getenv(victimEnv+"_TYPES") != "" {
		typer(ctx, s)
		return
	}
	in, _ := s.Pane("%0")
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Paste: "held", Hold: true}); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("holding")
	<-ctx.Done()
}
