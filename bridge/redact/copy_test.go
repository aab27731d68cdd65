package redact

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every kind of thing that can hold a text; the original stays as it is.
func TestCopy(t *testing.T) {
	type inner struct{ Text string }
	type doc struct {
		Text  string
		Ptr   *string
		In    *inner
		List  []inner
		Words []string
		Rows  []int
		Any   any
		Map   map[string]any
		Two   [2]string
		At    time.Time
		Nil   *inner
		N     int
	}
	const s = "API_TOKEN=hunter2aa"
	make := func() doc {
		p := s
		return doc{s, &p, &inner{s}, []inner{{s}}, []string{s, "plain"}, []int{1}, []any{s, 1}, map[string]any{"a": s}, [2]string{s, s}, time.Unix(7, 0), nil, 3}
	}
	in := make()
	got := Copy(in)
	const r = "API_TOKEN=" + Mark
	p := r
	want := doc{r, &p, &inner{r}, []inner{{r}}, []string{r, "plain"}, []int{1}, []any{r, 1}, map[string]any{"a": r}, [2]string{r, r}, time.Unix(7, 0), nil, 3}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(in, make()) {
		t.Errorf("the original became %+v", in)
	}
}

// Forms that a boundary of ASCII letters, a quoted name or a strange
// password let through.
func TestTextLetsNothingThrough(t *testing.T) {
	for in, want := range map[string]string{
		" ſECRET=hunter2":                    " ſECRET=" + Mark,
		"é ſecret: hunter2":                  "é ſecret: " + Mark,
		"x \u212aEY TO\u212aEN=hunter2":      "x \u212aEY TO\u212aEN=" + Mark,
		`A_TOKEN="hunter2"B_TOKEN="hunter2"`: "A_TOKEN=" + Mark + "B_TOKEN=" + Mark,
		"1_http://u:hunter2@h/x":             "1_http://" + Mark + "@h/x",
		"redis://:hunter2@h":                 "redis://" + Mark + "@h",
		"git clone https://u:hun@ter2@h/x":   "git clone https://" + Mark + "@h/x",
		`{"api_token":"hunter2","n":1}`:      `{"api_token":` + Mark + `,"n":1}`,
		`{'password': 'hunter2 x'}`:          `{'password': ` + Mark + `}`,
		`{\"token\":\"hunter2\",\"n\":1}`:    `{\"token\":` + Mark + `,\"n\":1}`,
		"see https://host:80/a@b and x":      "see https://host:80/a@b and x",
		"a task-list about tokens: some":     "a task-list about tokens: some",
	} {
		got := Text(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if strings.Contains(got, "ter2") {
			t.Errorf("%q: the secret is still there", in)
		}
	}
}
