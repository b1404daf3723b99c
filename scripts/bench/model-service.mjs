// A model service on the loopback interface that answers every request with the same short stream, at once, in the words
// of OpenAI or of Anthropic. It is a process of its own because whoever measures a command waits for it synchronously.
// Prints its port; ends with its standard input.
import { createServer } from 'node:http';

const TEXTS = ['Hello', ', ', 'world'];

const openAi = [
  ...TEXTS.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 3 } },
];
const anthropic = [
  {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: { input_tokens: 3 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...TEXTS.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
];
const bodies = {
  '/v1/chat/completions': [...openAi.map((event) => `data: ${JSON.stringify(event)}`), 'data: [DONE]'],
  '/v1/messages': anthropic.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`),
};

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const events = bodies[request.url] ?? [];
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.map((event) => `${event}\n\n`).join(''));
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
