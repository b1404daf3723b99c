import { INHERITED_LIMITS } from '../../agent/loop-options.ts';
import { intersectPolicies } from '../../agent/tools/policy.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { dictOf, mergeDicts } from '../dict.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { Dict, type Value } from '../value.ts';
import { agentValue, field, withoutKeys } from './agent-values.ts';

/** What a loop may do at most, and so everything that it starts (spec/agents.md 2.4): limits only ever narrow. */
export interface LoopLimits {
  /** Intersected with those of all loops above. */
  readonly policy: JsonObject | undefined;
  /** `{permissions, approval_policy}` of each loop above and of this one, the nearest last; they hold closures. */
  readonly inherited: readonly Value[];
}

export const NO_LIMITS: LoopLimits = { policy: undefined, inherited: [] };

/**
 * Options of a loop that is started under limits, such as those of a loop around it: its policy is cut down to that of the other, and the
 * permissions of the other stand beside its own.
 *
 * @throws plain error when the other may start no further loops
 */
export function narrowedOptions(above: LoopLimits | undefined, options: Value): Dict {
  const own = options instanceof Dict ? withoutKeys(options, [INHERITED_LIMITS]) : new Dict();
  const { policy: ceiling, inherited } = above ?? NO_LIMITS;
  const given = policyOf(own);
  const policy = intersectPolicies(ceilingOfChildren(ceiling), given);
  return mergeDicts(
    own,
    dictOf([
      ...(policy === given ? [] : [['policy', agentValue(policy)] satisfies [string, Value]]),
      ...(inherited.length === 0 ? [] : [[INHERITED_LIMITS, inherited] satisfies [string, Value]]),
    ]),
  );
}

/** Limits of a loop with these options; `narrowedOptions` has seen them. */
export function limitsOf(options: Value): LoopLimits {
  const above = field(options, INHERITED_LIMITS);
  const own = ['permissions', 'approval_policy'].flatMap((key): [string, Value][] => {
    const value = field(options, key);
    return value === undefined ? [] : [[key, value]];
  });
  return {
    policy: policyOf(options),
    inherited: [...(Array.isArray(above) ? above : []), ...(own.length === 0 ? [] : [dictOf(own)])],
  };
}

function policyOf(options: Value): JsonObject | undefined {
  const policy = toJson(field(options, 'policy'));
  return isJsonObject(policy) ? policy : undefined;
}

/** `recursion_limit` counts the levels of loops below. */
function ceilingOfChildren(policy: JsonObject | undefined): JsonObject | undefined {
  const limit = policy?.recursion_limit;
  if (policy === undefined || typeof limit !== 'number') return policy;
  if (limit <= 0) throw plainError('the policy of this agent does not let it start another one (recursion_limit)');
  return { ...policy, recursion_limit: limit - 1 };
}
