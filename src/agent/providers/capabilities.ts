/**
 * What a model can do on a service. Rules are tried in order: the project's own (`[[capabilities.provider.NAME]]` of
 * harn.toml), those of the service, those of the family it belongs to. What nobody says is false: text tools and a
 * schema in the prompt work everywhere.
 */
export interface Capabilities {
  readonly native_tools: boolean;
  /** Tools may be sent with their schemas left out until the service's own search finds them. */
  readonly defer_loading: boolean;
  /** Search variants of the service, the preferred one first. */
  readonly tool_search: readonly string[];
  readonly max_tools: number | null;
  readonly prompt_caching: boolean;
  readonly thinking_modes: readonly ThinkingMode[];
  readonly vision_supported: boolean;
  /** The limit is called `max_completion_tokens`. */
  readonly requires_completion_tokens: boolean;
  readonly reasoning_effort_supported: boolean;
  /** Reasoning goes back (as `reasoning_content`) with the calls of tools that it led to, or the service refuses to go on. */
  readonly requires_reasoning_content: boolean;
  /** A JSON Schema may go into the request; otherwise it goes into the prompt. */
  readonly json_schema: boolean;
}

export type ThinkingMode = 'enabled' | 'adaptive' | 'effort';

/** What is true of a model that no rule speaks of. */
export const NOTHING: Capabilities = {
  native_tools: false,
  defer_loading: false,
  tool_search: [],
  max_tools: null,
  prompt_caching: false,
  thinking_modes: [],
  vision_supported: false,
  requires_completion_tokens: false,
  reasoning_effort_supported: false,
  requires_reasoning_content: false,
  json_schema: false,
};

export interface Rule {
  readonly matches: (model: string) => boolean;
  readonly can: Partial<Capabilities>;
  /** Says something of all models that no other rule knows. */
  readonly isCatchAll?: boolean;
}

export type CapabilityRules = Readonly<Record<string, readonly Rule[]>>;

function like(pattern: RegExp, can: Partial<Capabilities>): Rule {
  return { matches: (model) => pattern.test(model), can };
}

/** `claude-opus-4-7`, `claude-sonnet-4-20250514`, `claude-3-5-haiku`, `claude-haiku-4.5`: major times 100 plus minor. */
function claudeVersion(model: string): number {
  const [, major = '0', minor = '0'] = /^claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(model) ?? [];
  return Number(major) * 100 + Number(minor);
}

function claude(from: number, can: Partial<Capabilities>): Rule {
  return { matches: (model) => model.startsWith('claude') && claudeVersion(model) >= from, can };
}

/** What every Claude that is still served can do. */
const CLAUDE: Partial<Capabilities> = { native_tools: true, prompt_caching: true, thinking_modes: ['enabled'], vision_supported: true };
const CLAUDE_SEARCH: Partial<Capabilities> = { ...CLAUDE, defer_loading: true, tool_search: ['bm25', 'regex'], max_tools: 10_000 };

const ANTHROPIC: readonly Rule[] = [
  {
    matches: (model) => model.startsWith('claude-opus') && claudeVersion(model) >= 407,
    can: { ...CLAUDE_SEARCH, thinking_modes: ['adaptive'] },
  },
  { matches: (model) => model.startsWith('claude-haiku') && claudeVersion(model) < 405, can: CLAUDE },
  claude(400, CLAUDE_SEARCH),
  claude(0, CLAUDE),
];

const GPT: Partial<Capabilities> = { native_tools: true, prompt_caching: true, vision_supported: true, json_schema: true };
const REASONING: Partial<Capabilities> = {
  ...GPT,
  thinking_modes: ['effort'],
  requires_completion_tokens: true,
  reasoning_effort_supported: true,
};

/** `gpt-5.4-preview` and later; earlier ones know no deferred tools. */
function isGptFrom(minimum: number): (model: string) => boolean {
  return (model) => Number(/^gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0) >= minimum;
}

const OPENAI: readonly Rule[] = [
  { matches: isGptFrom(5.4), can: { ...REASONING, defer_loading: true, tool_search: ['hosted', 'client'] } },
  { matches: isGptFrom(5), can: REASONING },
  like(/^o\d/, REASONING),
  like(/^gpt-(4o|4\.1|4-turbo)/, GPT),
  like(/^gpt-4/, { ...GPT, vision_supported: false, json_schema: false }),
  like(/^gpt-3\.5/, { native_tools: true }),
];

/** Services of the vendors' models under the vendors' names. */
const RESOLD: readonly Rule[] = [
  ...OPENAI,
  ...ANTHROPIC.map(({ matches, can }) => ({ matches, can: { ...can, defer_loading: false, tool_search: [] } })),
];

const GEMINI: readonly Rule[] = [
  like(/^gemini-(2\.5|[3-9])/, {
    native_tools: true,
    vision_supported: true,
    json_schema: true,
    thinking_modes: ['effort'],
    reasoning_effort_supported: true,
  }),
  like(/^gemini/, { native_tools: true, vision_supported: true, json_schema: true }),
];

function others(can: Partial<Capabilities>): Rule {
  return { matches: () => true, can, isCatchAll: true };
}

const TOOLS: Rule = others({ native_tools: true });

const BUILT_IN: CapabilityRules = {
  anthropic: ANTHROPIC,
  openai: [...OPENAI, others({ native_tools: true, json_schema: true })],
  openrouter: [...RESOLD, ...GEMINI, TOOLS],
  gemini: GEMINI,
  vertex: [...GEMINI, TOOLS],
  bedrock: [TOOLS],
  azure_openai: [TOOLS],
  ollama: [
    like(/^(llava|bakllava|gemma3|qwen2\.5vl|minicpm-v|llama3\.2-vision)/, { vision_supported: true, json_schema: true }),
    like(/^(llama3\.[1-9]|llama4|qwen2\.5|qwen3\.5|qwen3-coder|mistral|devstral|gpt-oss|command-r|granite)/, {
      native_tools: true,
      json_schema: true,
    }),
    like(/^(deepseek-r1|qwen3)/, { thinking_modes: ['enabled'], json_schema: true }),
    others({ json_schema: true }),
  ],
  local: OPENAI,
  // A test model stands for the model whose name it bears.
  mock: [...OPENAI, ...ANTHROPIC, ...GEMINI],
  deepseek: [...OPENAI, TOOLS].map((rule) => ({ ...rule, can: { ...rule.can, requires_reasoning_content: true } })),
  ...Object.fromEntries(['groq', 'together', 'mistral', 'fireworks', 'huggingface'].map((name) => [name, [...OPENAI, TOOLS]])),
};

/** Providers that have rules of their own. */
export function knownCapabilityProviders(): readonly string[] {
  return Object.keys(BUILT_IN);
}

/** @param own rules of the project or the script; they come first */
export function capabilitiesOf(provider: string, model: string, own: CapabilityRules): Capabilities {
  return { ...NOTHING, ...findRule(provider, model, own)?.can };
}

/** True when a rule is about this very model, so that a capability that it does not name is known to be missing. */
export function isKnownModel(provider: string, model: string, own: CapabilityRules): boolean {
  const rule = findRule(provider, model, own);
  return rule !== undefined && rule.isCatchAll !== true;
}

function findRule(provider: string, model: string, own: CapabilityRules): Rule | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const rules = [...(own[provider] ?? []), ...(Object.hasOwn(BUILT_IN, provider) ? (BUILT_IN[provider] ?? []) : [])];
  return rules.find(({ matches }) => matches(name) || matches(model.toLowerCase()));
}
