// Anthropic's own client: loaded and made, and with the argument `call` asked once.
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic();
if (process.argv[2] === 'call') {
  let text = '';
  const stream = client.messages.stream({ model: 'm', max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] });
  for await (const event of stream) if (event.type === 'content_block_delta') text += event.delta.text;
  console.log(text);
}
