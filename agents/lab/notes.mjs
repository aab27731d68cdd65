// A small MCP server on stdio for the lab: tools that need a permission, and
// tools that ask the user something. Both agents are given it. No dependencies.
import { createInterface } from 'node:readline';

const text = (title, description) => ({ type: 'string', title, description });
const object = (properties, required = []) => ({ type: 'object', properties, required });
const asking = {
  ask_form: {
    message: 'Please fill in the note.',
    requestedSchema: object({
      topic: text('Topic', 'What is the note about?'),
      colour: { type: 'string', title: 'Colour', description: 'Which colour?', enum: ['red', 'green', 'blue'] },
      pinned: { type: 'boolean', title: 'Pinned', description: 'Keep it on top?' },
    }, ['topic', 'colour']),
  },
  ask_text: { message: 'What is the notebook called?', requestedSchema: object({ name: text('Name', 'Its name') }, ['name']) },
  ask_choice: {
    message: 'Which notebook should be used?',
    requestedSchema: object({ notebook: { type: 'string', title: 'Notebook', enum: ['work', 'home', 'travel'] } }, ['notebook']),
  },
  ask_confirm: { message: 'Shall the notebook be archived now?', requestedSchema: object({}) },
  ask_url: { mode: 'url', message: 'Please sign in to the notebook.', url: 'https://example.invalid/signin', elicitationId: 'lab-1' },
};
const quiet = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const tools = [
  {
    name: 'write_note', description: 'Writes a note into the notebook.',
    inputSchema: object({ title: { type: 'string' }, body: { type: 'string' } }, ['title']),
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  ...Object.keys(asking).map(name => ({ name, description: 'Asks the user.', inputSchema: object({}), annotations: quiet })),
];

let last = 0;
const waiting = new Map();
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const elicit = params => new Promise(resolve => {
  const id = `ask-${++last}`;
  waiting.set(id, resolve);
  send({ id, method: 'elicitation/create', params });
});

async function call(name, args) {
  if (name === 'write_note') return `note written: ${args.title}`;
  return `answer: ${JSON.stringify(await elicit(asking[name]))}`;
}

createInterface({ input: process.stdin }).on('line', async line => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (!method) {
    waiting.get(id)?.(result ?? { error });
    waiting.delete(id);
  } else if (method === 'initialize') {
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (method === 'tools/call') {
    send({ id, result: { content: [{ type: 'text', text: await call(params.name, params.arguments ?? {}) }] } });
  } else if (id !== undefined) {
    send(method === 'ping' ? { id, result: {} } : { id, error: { code: -32601, message: 'no such method' } });
  }
}).on('close', () => process.exit(0));
