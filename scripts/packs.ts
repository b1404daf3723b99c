/** What goes into which file of the build; bundle.ts makes them, docs/ARCHITECTURE.md says what each is for. */

/** Stands for the chunk of what esbuild itself adds to the code, which holds no module. */
export const HELPERS = "esbuild's helpers";

/** What both of these packs need is in the pack `base`, the first one, so that neither has to load the other. */
export const BASE_OF = ['main', 'models'] as const;

/**
 * What each pack exists for: everything that these modules, or the chunks they are in, need at once and no earlier pack has. All of a pack is
 * evaluated when any of it is needed; whatever no pack names is a pack of its own.
 */
export const PACKS: readonly (readonly [name: string, entries: readonly string[]])[] = [
  [
    'main',
    [
      'src/cli/main.ts',
      'src/cli/commands/run.ts',
      'src/runtime/builtins/core.ts',
      'src/runtime/builtins/strings.ts',
      'src/runtime/builtins/collections.ts',
      // Of agents, but asked by files and programs, too.
      'src/runtime/agents/agent-context.ts',
    ],
  ],
  // Both of the next ones need it; alone, neither has to load the other.
  ['toml', ['node_modules/smol-toml/dist/parse.js']],
  ['compile', ['src/runtime/program/compile-program.ts']],
  // What scripts without agents use of the system, and agents too.
  ['files', ['src/runtime/builtins/files.ts', 'src/runtime/builtins/process.ts']],
  ['workers', ['src/cli/commands/workers-list.ts']],
  // What agents and the adapters of models both need; without the schema library, which adapters do not.
  [
    'messages',
    [
      'src/agent/transcript/message.ts',
      'src/agent/tools/tool-search.ts',
      'src/agent/model-call/structured-output.ts',
      'src/agent/providers/answer-parts.ts',
      'src/agent/providers/capabilities.ts',
      'src/agent/providers/llm-settings.ts',
      'src/agent/providers/model-catalog.ts',
      'src/base/assert-never.ts',
    ],
  ],
  [
    'agent',
    ['src/cli/commands/resume.ts', 'src/runtime/agents/agent-resume.ts', 'src/runtime/builtins/agent.ts', 'src/runtime/builtins/llm.ts'],
  ],
  ['models', ['src/agent/providers/remote-provider.ts']],
];

/**
 * Modules with everything they import in a bundle of their own. They share libraries with the rest, and a chunk for what
 * is shared holds all that either side needs of it: zod as the MCP SDK wants it would weigh on every start.
 */
export const ALONE: readonly string[] = ['src/agent/mcp/mcp-client.ts', 'src/servers/mcp-server.ts'];

/**
 * Packs that are evaluated only when something of them is used, also where it is imported as usual: what these modules
 * need and nothing else does. A module belongs here when those who import it use it late and not in every run: in functions,
 * never while they are evaluated themselves. `test/cli/loaded.test.ts` says which commands get by without.
 */
export const LATER: readonly (readonly [name: string, modules: readonly string[]])[] = [
  [
    // Of agents, what a resumed loop has no use for. What it needs to park is not here: the installation may have been replaced by then.
    'agent-rest',
    [
      'src/agent/autonomy.ts',
      'src/agent/daemon/daemon-sources.ts',
      'src/agent/loop-record-schema.ts',
      'src/agent/model-call/llm-result.ts',
      'src/agent/sub-agent-result.ts',
      'src/agent/text-value.ts',
      'src/agent/tools/policy.ts',
      'src/agent/tools/watched-paths.ts',
      'src/agent/transcript/decode-message.ts',
      'src/agent/transcript/session-edit.ts',
      'src/agent/workflow-run.ts',
      'src/lifecycle/close.ts',
      'src/lifecycle/cron.ts',
      'src/lifecycle/daemon-queue.ts',
      'src/lifecycle/daemon.ts',
      'src/lifecycle/recover.ts',
      'src/lifecycle/start.ts',
      'src/lifecycle/sus-errors.ts',
      'src/runtime/agents/agent-loop.ts',
      'src/runtime/agents/agent-program.ts',
      'src/runtime/agents/execution.ts',
      'src/runtime/agents/lifecycle-values.ts',
      'src/runtime/agents/llm-call.ts',
      'src/runtime/agents/llm-structured.ts',
      'src/runtime/agents/loop-start.ts',
      'src/runtime/captured-value.ts',
      'src/store/daemon-file.ts',
    ],
  ],
];
