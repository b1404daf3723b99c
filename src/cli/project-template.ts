/** What `harn init` writes: a project that runs without a model, parks, and can be resumed. By path from its folder. */
export function projectFiles(name: string): Readonly<Record<string, string>> {
  return { 'harn.toml': manifest(name), 'main.harn': SCRIPT, 'main.llm-mock.jsonl': MODEL, 'notes.txt': NOTES };
}

/** A line for `.gitignore`: the state of runs is no part of a project. */
export const IGNORED = '.harn/';

function manifest(name: string): string {
  return `[package]
name = ${JSON.stringify(name)}
version = "0.1.0"

# What to ask when a script names no provider and no model:
# [llm]
# provider = "anthropic"
`;
}

const SCRIPT = `/** Reads a file of this project. */
tool read_notes(path: string) -> string {
  description "Reads a text file of the project."
  return read_file(path_join(source_dir(), path))
}

pipeline default() {
  let system = "You help with this project. Before you call anything finished, ask for a decision with agent_await_resumption."
  let task = "Read notes.txt and say what to do next."
  let result = agent_loop(task, system, {tools: read_notes, max_iterations: 8})
  println(result.status == "suspended" ? "waiting: \${result.reason}" : result.visible_text)
}
`;

const MODEL = [
  { match: '*You have been resumed by*', text: 'Good, then that is what I do first.' },
  {
    match: '*two things to do*',
    tool_calls: [{ name: 'agent_await_resumption', args: { reason: 'The notes name two things to do; which one first?' } }],
  },
  { match: '*', text: 'I read the notes.', tool_calls: [{ name: 'read_notes', args: { path: 'notes.txt' } }] },
]
  .map((entry) => `${JSON.stringify(entry)}\n`)
  .join('');

const NOTES = `There are two things to do:
- ask a real model: harn doctor says what is missing
- write a tool of your own in main.harn
`;
