import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { HarnError } from '../../base/harn-error.ts';
import type { Json } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { matchesGlob } from '../glob.ts';
import { type Capabilities, type CapabilityRules, NOTHING, type Rule } from './capabilities.ts';

/** Capability rules from outside: of `harn.toml`, and of scripts. */
const ruleSchema = lazily(() =>
  z.looseObject({
    model_match: z.string(),
    native_tools: z.optional(z.boolean()),
    defer_loading: z.optional(z.boolean()),
    tool_search: z.optional(z.array(z.string())),
    max_tools: z.optional(z.int()),
    prompt_caching: z.optional(z.boolean()),
    thinking_modes: z.optional(z.array(z.enum(['enabled', 'adaptive', 'effort']))),
    vision_supported: z.optional(z.boolean()),
    requires_completion_tokens: z.optional(z.boolean()),
    reasoning_effort_supported: z.optional(z.boolean()),
    requires_reasoning_content: z.optional(z.boolean()),
    json_schema: z.optional(z.boolean()),
  }),
);

/**
 * Rules as `[[provider.NAME]]` tables have them: `model_match` is a glob, everything else a capability.
 *
 * @param where names the source in messages
 * @throws HarnError `plain`
 */
export function decodeCapabilityRules(providers: Json, where: string): CapabilityRules {
  const decoded = z.record(z.string(), z.array(ruleSchema())).safeParse(providers, OWN_TEXTS_ONLY);
  if (!decoded.success) {
    const issue = decoded.error.issues[0];
    throw new HarnError('plain', `${where}: capability rule ${issue?.path.join('.') ?? ''}: ${decodeProblem(issue, providers)}`);
  }
  return Object.fromEntries(
    Object.entries(decoded.data).map(([provider, rules]) => [
      provider,
      rules.map(({ model_match: glob, ...can }): Rule => ({ matches: (model) => matchesGlob(glob.toLowerCase(), model), can: given(can) })),
    ]),
  );
}

function given(can: Omit<z.infer<ReturnType<typeof ruleSchema>>, 'model_match'>): Partial<Capabilities> {
  return Object.fromEntries(Object.entries(can).filter(([key, value]) => key in NOTHING && value !== undefined));
}
