// OpenAI's own client: loaded and made, and with the argument `call` asked once.
import OpenAI from 'openai';

const client = new OpenAI();
if (process.argv[2] === 'call') {
  let text = '';
  const stream = await client.chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] });
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  console.log(text);
}
