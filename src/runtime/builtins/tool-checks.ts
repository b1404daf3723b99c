import { checkToolSurface, type SurfaceDiagnostic } from '../../agent/tools/tool-surface.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { toolEntries } from '../agents/agent-tools.ts';
import { agentValue, field, optionalText, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import { synthesizedTools, synthesizeTool } from '../agents/synthesized-tool.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { plainError } from '../errors.ts';
import { Dict, isCallable, type Value } from '../value.ts';

/** Looking over tools before a loop gets them, and trying out tools that nobody has written yet. */
export const TOOL_CHECKS: BuiltinGroup = {
  name: 'tool-checks',
  title: 'Checks of tools',
  errors: [
    { text: 'tool_surface_validate: expected a dict', when: '`tool_surface_validate`' },
    { text: 'tool_synthesize: a description is required', when: '`tool_synthesize`' },
    { text: 'NAME: missing required argument ARGUMENT', when: 'calling what `tool_synthesize` gave' },
  ],
  builtins: {
    tool_surface_validate: {
      signature: '(surface: dict, options: dict = nil) -> dict',
      doc: 'Whether `{tools, policy, approval_policy, system, prompt, tool_search}` fit together: `{valid, diagnostics}`, each diagnostic with code, severity, message and tool.',
      call: (_context, _depth, ...args) => {
        const [surface] = withoutHarness(args);
        if (!(surface instanceof Dict)) throw plainError('tool_surface_validate: expected a dict');
        const diagnostics = checkToolSurface({
          tools: toolEntries(field(surface, 'tools')).map(entryFacts),
          policy: objectOf(optionsJson(surface).policy),
          approvalPolicy: objectOf(optionsJson(surface).approval_policy),
          prompt: [field(surface, 'system'), field(surface, 'prompt')].map((text) => optionalText(text) ?? '').join('\n'),
          hasToolSearch: ![undefined, false].includes(field(surface, 'tool_search') as false | undefined),
        });
        return agentValue({
          valid: diagnostics.every(({ severity }) => severity !== 'error'),
          diagnostics: diagnostics.map(diagnosticJson),
        });
      },
    },
    tool_synthesize: {
      signature: '(config: dict) -> any',
      doc: 'A callable from `{description, name, parameters, return_type, capabilities, side_effect_level}`. It checks its arguments and shows what it would do; with `executor: "host_bridge"` and `host_tool` it asks the host.',
      call: (context, _depth, ...args) => synthesizeTool(context, withoutHarness(args)[0]),
    },
    tool_synthesis_cache: {
      signature: '() -> list<dict>',
      doc: 'What tool_synthesize made in this run, each under an id that depends on its configuration alone.',
      call: (context) => [...synthesizedTools(context.run).values()].map((tool) => agentValue(tool)),
    },
    tool_synthesis_clear: {
      signature: '() -> nil',
      doc: 'Forgets what tool_synthesize made; the callables go on working.',
      call: (context) => {
        synthesizedTools(context.run).clear();
        return undefined;
      },
    },
  },
};

/** A handler is a fact, too, though it is no JSON. */
function entryFacts(entry: Value): JsonObject {
  return { ...optionsJson(entry), ...(isCallable(field(entry, 'handler')) ? { handler: true } : {}) };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function diagnosticJson({ code, severity, message, tool }: SurfaceDiagnostic): JsonObject {
  return { code, severity, message, tool };
}
