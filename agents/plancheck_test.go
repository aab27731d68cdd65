package agents

import "testing"

// A profile is data that a user may write: it can't make akk type what its keys
// are not for.
func TestCheckPlan(t *testing.T) {
	good := SubmitPlan{SettleMillis: 200, DrawMillis: 3000, Enter: "\r", Clear: ClearPlan{First: "\x05\x15", Again: "\x7f\x15", StepMillis: 400}, Interrupt: InterruptPlan{Key: "\x03"}}
	if err := CheckPlan(good); err != nil {
		t.Error(err)
	}
	if err := CheckPlan(SubmitPlan{}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*SubmitPlan){
		"a letter before Enter": func(p *SubmitPlan) { p.Enter = "y\r" },
		"two Enters":            func(p *SubmitPlan) { p.Enter = "\r\r" },
		"a negative time":       func(p *SubmitPlan) { p.SettleMillis = -5 },
		"an endless time":       func(p *SubmitPlan) { p.AcceptMillis = maxPlanMillis + 1 },
		"Ctrl-C twice":          func(p *SubmitPlan) { p.Interrupt.Key = "\x03\x03" },
		"a letter to interrupt": func(p *SubmitPlan) { p.Interrupt.Key = "q" },
		"clearing by Enter":     func(p *SubmitPlan) { p.Clear.First = "\x05\r" },
		"clearing by Ctrl-C":    func(p *SubmitPlan) { p.Clear.Again = "\x03" },
		"clearing by a word":    func(p *SubmitPlan) { p.Clear.First = "y" },
		"clearing by Escape":    func(p *SubmitPlan) { p.Clear.First = "\x1b\x1b" },
	} {
		p := good
		spoil(&p)
		if CheckPlan(p) == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}
