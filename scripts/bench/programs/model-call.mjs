// The least that a program can do to ask a model: one streamed request with the fetch of Node, and its text.
const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
});
let rest = '';
let text = '';
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    if (line.startsWith('data: {')) text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '';
  }
}
console.log(text);
