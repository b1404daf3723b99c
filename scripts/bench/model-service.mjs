// A model service on the loopback interface that answers every request with the same short stream, at once. It is a process
// of its own because whoever measures a command waits for it synchronously. Prints its port; ends with its standard input.
import { createServer } from 'node:http';

const events = [
  ...['Hello', ', ', 'world'].map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 3 } },
];
const body = [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
