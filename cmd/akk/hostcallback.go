package main

import (
	"encoding/json"
	"fmt"
	"io"

	"akk/bridge/host/connector"

	"github.com/spf13/cobra"
)

// newHostCallback is the command of the shipped profiles. It is run by a bridge,
// not by a human: the text goes where this process itself runs.
func newHostCallback(a *app) *cobra.Command {
	var m connector.Message
	var key string
	c := &cobra.Command{
		Use:   "host-callback",
		Short: "Carry a callback, given on standard input, into the pane of the agent that runs this",
		Long: `The command of the profiles that ` + "`akk host-profile list`" + ` shows. It types the
callback into the pane of the agent under which it runs, as soon as that is idle
with an empty composer, and prints one JSON document that says what became of it.`,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if m.Session == "" || m.DeliveryID == "" || m.MessageID == "" {
				return usagef("--session, --delivery-id and --message-id are needed")
			}
			body, err := io.ReadAll(io.LimitReader(a.stdin(c.Context()), connector.BodyMax))
			if err != nil {
				return fmt.Errorf("read the callback from standard input: %w", err)
			}
			m.Body = string(body)
			answer := connector.Answer{Disposition: connector.Retry, DeliveryID: m.DeliveryID, MessageID: m.MessageID}
			d, err := a.dial(c.Context(), "cli")
			if err != nil {
				answer.Reason = err.Error()
			} else {
				defer d.Close()
				answer = connector.Deliver(c.Context(), d, m)
			}
			return json.NewEncoder(a.out).Encode(answer)
		},
	}
	f := c.Flags()
	f.StringVar(&m.Session, "session", "", "the Host's `session`")
	f.StringVar(&m.DeliveryID, "delivery-id", "", "the delivery's `id`, echoed")
	f.StringVar(&m.MessageID, "message-id", "", "the message's `id`, echoed")
	f.StringVar(&key, "idempotency-key", "", "taken and not needed: the delivery's id is enough")
	f.BoolVar(&m.Native, "native", false, "the session is the agent's own: refuse when its pane shows another one")
	return c
}
