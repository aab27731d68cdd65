package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/bridge/rpc"
)

// This file holds the resources: the list, a terminal, a Turn, each the same
// document as its tool returns. Who subscribes is told of every change by one
// reader of the journal, which resumes where it was when the daemon goes away.

const (
	terminalsURI  = "akk://terminals"
	terminalStart = "akk://terminal/"
	turnStart     = "akk://turn/"
	jsonType      = "application/json"
	// againAfter is the pause before the journal is opened again after it ended.
	againAfter = time.Second
)

// subscribedMax bounds the URIs that are kept; a Host has a few.
const subscribedMax = 4096

type resources struct {
	*server
	srv  *sdk.Server
	once sync.Once

	mu sync.Mutex
	// subscribed are the URIs as their subscribers wrote them: an id may be
	// percent-encoded or not, and a notification names it in the same way.
	subscribed map[string]int
}

func (r *resources) add(srv *sdk.Server) {
	r.srv = srv
	srv.AddResource(&sdk.Resource{URI: terminalsURI, Name: "terminals", Title: "Agent terminals", MIMEType: jsonType,
		Description: "the document of " + prefix + "list"}, r.read)
	srv.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: terminalStart + "{+id}", Name: "terminal", Title: "One agent terminal", MIMEType: jsonType,
		Description: "the document of " + prefix + "status for a terminal_id"}, r.read)
	srv.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: turnStart + "{+id}", Name: "turn", Title: "One turn", MIMEType: jsonType,
		Description: "the document of " + prefix + "status for a turn_id"}, r.read)
}

func (r *resources) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	var doc any
	var err error
	switch id, kind := resourceID(uri); {
	case uri == terminalsURI:
		doc, err = r.Desk.ListJSON(ctx, rpc.ListParams{})
	case kind == terminalStart:
		doc, err = r.Desk.Status(ctx, rpc.StatusParams{ID: id})
	case kind == turnStart:
		doc, err = r.Desk.Status(ctx, rpc.StatusParams{TurnID: id})
	default:
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if code(err) == rpc.CodeNotFound {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	b, err := sanitise(doc)
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(b)}}}, nil
}

// resourceID takes a resource's name apart; kind is "" for none of ours.
func resourceID(uri string) (id, kind string) {
	for _, start := range []string{terminalStart, turnStart} {
		if rest, ok := strings.CutPrefix(uri, start); ok {
			if id, err := url.PathUnescape(rest); err == nil && id != "" && !strings.Contains(id, "/") {
				return id, start
			}
		}
	}
	return "", ""
}

// subscribe starts the reader with the first subscription; who gets what is
// kept by the SDK. A resource that is not there yet can be waited for.
func (r *resources) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	if _, kind := resourceID(req.Params.URI); kind == "" && req.Params.URI != terminalsURI {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscribed[req.Params.URI] == 0 && len(r.subscribed) >= subscribedMax {
		return errors.New("too many resources are subscribed to: unsubscribe from some")
	}
	if r.subscribed == nil {
		r.subscribed = map[string]int{}
	}
	r.subscribed[req.Params.URI]++
	r.once.Do(func() { go r.follow() })
	return nil
}

func (r *resources) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscribed[req.Params.URI]--; r.subscribed[req.Params.URI] <= 0 {
		delete(r.subscribed, req.Params.URI)
	}
	return nil
}

// follow reads the journal until the server's context ends.
func (r *resources) follow() {
	ctx := r.Context
	var last uint64
	for ctx.Err() == nil {
		err := r.Desk.Events(ctx, rpc.EventsParams{Since: last, Follow: true}, func(s rpc.EventsResult) error {
			if last == 0 && s.Next > 0 {
				last = s.Next - 1
			}
			return nil
		}, func(e rpc.Event) error {
			if e.Type == "gap" {
				last = e.To
			} else {
				last = e.Seq
			}
			for _, uri := range r.touched(e) {
				if err := r.srv.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
					r.Logger.Debug("resource update", "uri", uri, "err", err)
				}
			}
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		r.Logger.Debug("the journal ended for subscriptions", "err", err)
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
		}
	}
}

// touched are the subscribed resources that an event changes.
func (r *resources) touched(e rpc.Event) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var uris []string
	for uri := range r.subscribed {
		id, kind := resourceID(uri)
		if uri == terminalsURI || e.Type == "gap" || kind == terminalStart && id == e.TerminalID || kind == turnStart && id == e.TurnID {
			uris = append(uris, uri)
		}
	}
	return uris
}
