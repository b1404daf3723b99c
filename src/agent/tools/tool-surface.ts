import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { matchesGlob } from '../glob.ts';
import { levelOf } from './policy.ts';
import { parametersSchema } from './tool.ts';

/**
 * Looks over everything that a loop would be given (tools, policies, system text) for what does not fit together, before a
 * model is asked. Pure: entries of a registry come as JSON.
 */
export interface SurfaceDiagnostic {
  readonly code: string;
  readonly severity: 'warning' | 'error';
  readonly message: string;
  readonly tool: string | null;
}

export interface ToolSurface {
  readonly tools: readonly JsonObject[];
  readonly policy: JsonObject;
  readonly approvalPolicy: JsonObject;
  /** Text that the model reads. */
  readonly prompt: string;
  readonly hasToolSearch: boolean;
}

export function checkToolSurface(surface: ToolSurface): readonly SurfaceDiagnostic[] {
  const active = surface.tools.filter((tool) => isActive(tool, surface.policy));
  return [
    ...active.flatMap((tool) => checkTool(tool, active, surface.policy)),
    ...checkConstraints(active, surface.policy),
    ...checkApproval(active, surface.approvalPolicy),
    ...checkPrompt(active, surface),
  ];
}

function isActive(tool: JsonObject, { tools }: JsonObject): boolean {
  const globs = textsOf(tools);
  return globs.length === 0 || globs.some((glob) => matchesGlob(glob, nameOf(tool)));
}

function checkTool(tool: JsonObject, active: readonly JsonObject[], policy: JsonObject): SurfaceDiagnostic[] {
  const found: SurfaceDiagnostic[] = [];
  const add = (code: string, severity: SurfaceDiagnostic['severity'], message: string): void => {
    found.push({ code: `TOOL_SURFACE_${code}`, severity, message, tool: nameOf(tool) });
  };
  const name = nameOf(tool);
  const annotations = isJsonObject(tool.annotations) ? tool.annotations : undefined;
  if (!isJsonObject(tool.parameters)) add('MISSING_SCHEMA', 'warning', `${name} says nothing of its parameters`);
  if (annotations === undefined) add('MISSING_ANNOTATIONS', 'warning', `${name} has no annotations`);
  else if ((annotations.side_effect_level ?? 'none') === 'none' && annotations.readOnlyHint !== true)
    add('MISSING_SIDE_EFFECT_LEVEL', 'warning', `${name} does not say what its side effects are`);
  if (tool.executor === undefined && tool.handler === undefined) add('MISSING_EXECUTOR', 'warning', `nothing is known to run ${name}`);
  const ceiling = policy.side_effect_level;
  if (ceiling !== undefined && levelOf(annotations?.side_effect_level) > levelOf(ceiling))
    add(
      'SIDE_EFFECT_CEILING_EXCEEDED',
      'error',
      `${name} has side effects of level ${String(annotations?.side_effect_level)}, above the policy's ${String(ceiling)}`,
    );
  if (annotations?.emits_artifacts === true && annotations.inline_result !== true) {
    const readers = textsOf(annotations.result_readers);
    for (const reader of readers)
      if (!active.some((other) => nameOf(other) === reader))
        add('UNKNOWN_RESULT_READER', 'warning', `${reader}, which reads results of ${name}, is no active tool`);
    if (!active.some((other) => isReaderFor(other, readers)))
      add('MISSING_RESULT_READER', 'error', `${name} leaves results to be read by another tool, and none can`);
  }
  return found;
}

function isReaderFor(tool: JsonObject, readers: readonly string[]): boolean {
  if (readers.length > 0) return readers.includes(nameOf(tool));
  return isJsonObject(tool.annotations) && tool.annotations.kind === 'read';
}

function checkConstraints(active: readonly JsonObject[], { tool_arg_constraints: constraints }: JsonObject): SurfaceDiagnostic[] {
  return (Array.isArray(constraints) ? constraints.filter(isJsonObject) : []).flatMap((constraint): SurfaceDiagnostic[] => {
    const glob = String(constraint.tool ?? '');
    const tools = active.filter((tool) => matchesGlob(glob, nameOf(tool)));
    if (tools.length === 0)
      return [
        {
          code: 'TOOL_SURFACE_UNKNOWN_ARG_CONSTRAINT_TOOL',
          severity: 'warning',
          message: `a constraint is about ${glob}, which is no active tool`,
          tool: null,
        },
      ];
    const key = constraint.arg_key;
    if (typeof key !== 'string') return [];
    return tools
      .filter((tool) => !argumentNames(tool).includes(key))
      .map((tool) => ({
        code: 'TOOL_SURFACE_UNKNOWN_ARG_CONSTRAINT_KEY',
        severity: 'warning',
        message: `${nameOf(tool)} has no argument ${key} to constrain`,
        tool: nameOf(tool),
      }));
  });
}

function argumentNames(tool: JsonObject): string[] {
  const { properties } = parametersSchema(isJsonObject(tool.parameters) ? tool.parameters : undefined);
  const annotations = isJsonObject(tool.annotations) && isJsonObject(tool.annotations.arg_schema) ? tool.annotations.arg_schema : {};
  return [...(isJsonObject(properties) ? Object.keys(properties) : []), ...textsOf(annotations.path_params)];
}

/** Only exact names: a glob may be meant for tools to come. */
function checkApproval(active: readonly JsonObject[], policy: JsonObject): SurfaceDiagnostic[] {
  const patterns = ['auto_approve', 'auto_deny', 'require_approval'].flatMap((key) => textsOf(policy[key]));
  return patterns
    .filter((pattern) => !pattern.includes('*') && !active.some((tool) => nameOf(tool) === pattern))
    .map((pattern) => ({
      code: 'TOOL_SURFACE_APPROVAL_PATTERN_NO_MATCH',
      severity: 'warning',
      message: `the approval policy names ${pattern}, which is no active tool`,
      tool: null,
    }));
}

function checkPrompt(active: readonly JsonObject[], { tools, prompt, hasToolSearch }: ToolSurface): SurfaceDiagnostic[] {
  return calledNames(prompt).flatMap((name): SurfaceDiagnostic[] => {
    const report = (code: string, message: string): SurfaceDiagnostic[] => [
      { code: `TOOL_SURFACE_${code}`, severity: 'warning', message, tool: name },
    ];
    const tool = active.find((one) => nameOf(one) === name);
    if (tool === undefined) {
      const isDeclared = tools.some((one) => nameOf(one) === name);
      return isDeclared
        ? report('PROMPT_TOOL_NOT_IN_POLICY', `the prompt calls ${name}, which the policy does not allow`)
        : report('UNKNOWN_PROMPT_TOOL', `the prompt calls ${name}, which is not declared`);
    }
    const hidden = tool.defer_loading === true && !hasToolSearch;
    return [
      ...(hidden ? report('DEFERRED_TOOL_PROMPT_REFERENCE', `the prompt calls ${name}, which is deferred, and nothing searches`) : []),
      ...usedAliases(tool, prompt).map(([alias, key]) => ({
        code: 'TOOL_SURFACE_DEPRECATED_ARG_ALIAS',
        severity: 'warning' as const,
        message: `the prompt calls ${name} with ${alias}; the argument is called ${key}`,
        tool: name,
      })),
    ];
  });
}

/** Names in front of `({`, outside of fenced blocks and of what is marked to be left out. */
function calledNames(prompt: string): string[] {
  const text = prompt
    .replaceAll(/<!-- harn-tool-surface: ignore-start -->[\s\S]*?(<!-- harn-tool-surface: ignore-end -->|$)/g, '')
    .replaceAll(/<!-- harn-tool-surface: ignore-next-line -->\n.*/g, '')
    .replaceAll(/```[\s\S]*?(```|$)/g, '');
  return [...new Set([...text.matchAll(/\b([A-Za-z_]\w*)\(\s*\{/g)].map((match) => match[1] as string))]; // the group always matches
}

function usedAliases(tool: JsonObject, prompt: string): [alias: string, key: string][] {
  const schema = isJsonObject(tool.annotations) && isJsonObject(tool.annotations.arg_schema) ? tool.annotations.arg_schema : {};
  const aliases = isJsonObject(schema.arg_aliases) ? Object.entries(schema.arg_aliases) : [];
  const calls = [...prompt.matchAll(new RegExp(`\\b${nameOf(tool)}\\(\\s*\\{([^}]*)\\}`, 'g'))].map((match) => match[1] ?? '');
  return aliases.flatMap(([alias, key]): [string, string][] =>
    calls.some((args) => new RegExp(`(^|[{,\\s"'])${escapeRegex(alias)}["']?\\s*:`).test(args)) ? [[alias, String(key)]] : [],
  );
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function nameOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name : '';
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
