package mcp

import "context"

// agent_knock_knock_respond_interaction (R72 to R97, R214): semantic ids only, one question. The desk does not do it yet:
// every valid call is refused with the reason.

var respondInteractionTool = &tool{
	name:        "respond_interaction",
	title:       "Answer a question",
	description: "Answer the one question that an agent asks now, by the ids that status showed, after the user decided. Only when available_actions offers respond_interaction.",
	input: object(`"interaction_id","answers"`, turnArg+`,`+watchArg+`,
		"interaction_id":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._:-]*$","maxLength":128},
		"answers":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"object","additionalProperties":false,"required":["question_id","response_kind"],"properties":{
			"question_id":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._:-]*$","maxLength":128},
			"response_kind":{"type":"string","enum":["single_select","free_text","confirm"]},
			"selected_option_ids":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._:-]*$","maxLength":128}},
			"text":{"type":"string","minLength":1,"maxLength":4096},
			"confirm":{"type":"boolean"}}}},
		"delivery_mode":{"type":"string","enum":["steer_current_turn","queue_next_turn"],"description":"only where it is offered"}`),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if bad := c.exactlyOne("turn_id", "watch_id"); bad != nil {
			return nil, bad
		}
		return c.later(ctx, "questions can not be answered through akk yet", "ask the human to answer it in the pane")
	},
}
