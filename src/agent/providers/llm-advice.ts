import type { LlmErrorFacts } from './llm-errors.ts';
import { variablePrefix } from './llm-settings.ts';
import { isUntrusted } from './network-fault.ts';

/** What to do next about a fault of a model call, for the person who sees it end a run; undefined where the message says it. */
export function adviceOnFault(facts: LlmErrorFacts): string | undefined {
  const { category, kind, reason, provider, model, network_code: code, attempts } = facts;
  const asks = `\`harn doctor ${provider}${model === '' || category === 'auth' ? '' : ` --model ${model}`}\``;
  if (category === 'auth')
    return `${asks} looks at the service; \`provider\` or HARN_PROVIDER names another; --llm-mock FILE runs without one`;
  if (category === 'not_found') return `${asks} says what is served; \`model\` or HARN_MODEL names another`;
  if (reason === 'context_overflow')
    return 'shorten what is sent, or take a model with a longer context; a loop shortens its history with `auto_compact`';
  if (typeof code === 'string') {
    if (isUntrusted(code)) return 'NODE_EXTRA_CA_CERTS=FILE makes the authority that signed it known';
    if (code === 'ECONNREFUSED' && provider === 'ollama') return '`ollama serve` starts it; OLLAMA_HOST says where it is';
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') return `${variablePrefix(provider)}_BASE_URL changes the address, ${asks} asks it`;
  }
  const retries =
    typeof attempts === 'number'
      ? `it was tried ${attempts} times`
      : '`llm_retries` says how often harn tries again (a call: 0, a loop: 2)';
  if (category === 'timeout') return `\`timeout\` gives it longer (seconds; 120 when left out); ${retries}`;
  return kind === 'transient' ? `this may pass: ${retries}` : undefined;
}
