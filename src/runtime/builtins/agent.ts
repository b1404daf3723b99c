import { intersectPolicies } from '../../agent/tools/policy.ts';
import { plainEvent } from '../../agent/transcript/transcript.ts';
import type { JsonObject } from '../../base/json.ts';
import { currentLoop } from '../agents/agent-context.ts';
import { wakeSession } from '../agents/agent-lifecycle.ts';
import { agentLoop } from '../agents/agent-loop.ts';
import { agentServices, inboxOf } from '../agents/agent-services.ts';
import { agentValue, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { display } from '../display.ts';
import type { Value } from '../value.ts';

/** Agent loops (spec/agents.md chapter 3). */
export const AGENT: BuiltinGroup = {
  name: 'agent',
  title: 'Agent loops',
  errors: [
    {
      text: 'agent_loop: tool NAME has no executable backend',
      when: 'a tool of the registry has neither a handler nor a host; before the first model call',
    },
  ],
  builtins: {
    agent_loop: {
      signature: '(prompt: any = nil, system: any = nil, options: LoopOptions | dict | any = nil) -> dict',
      doc: 'Lets a model work with tools until it is done, parks itself, or a limit is reached; answers the result or the Suspension.',
      colour: 'async',
      call: (context, _depth, ...args) => agentLoop(context, withoutHarness(args)),
    },
    agent_inject_feedback: {
      signature: '(session_id: any, kind: any, content: any) -> nil',
      doc: 'Puts feedback before the next model call of the session.',
      call: (context, _depth, ...args) => {
        const [sessionId, kind, content] = withoutHarness(args);
        inboxOf(agentServices(context.run), display(sessionId)).feedback.push({ kind: display(kind), content: display(content) });
        wakeSession(context.run, display(sessionId));
        return undefined;
      },
    },
    __intersect_policies: {
      signature: '(parent: any = nil, child: any = nil) -> any',
      doc: 'A policy that is no wider than either of two.',
      call: (_context, _depth, parent, child) => {
        const policy = (value: Value): JsonObject | undefined => (value === undefined ? undefined : optionsJson(value));
        return agentValue(intersectPolicies(policy(parent), policy(child)));
      },
    },
    __record_plan: {
      signature: '(plan: any = nil) -> nil',
      doc: 'Notes a plan in the transcript of the running loop and tells its listeners; nothing outside of a loop.',
      call: (context, _depth, plan) => {
        const loop = currentLoop(context);
        if (loop === undefined) return undefined;
        const services = agentServices(context.run);
        const json = optionsJson(plan);
        inboxOf(services, loop.sessionId).tape.push(plainEvent('plan', String(json.summary ?? ''), { plan: json }));
        services.events.emit({ type: 'plan', session_id: loop.sessionId, plan: json });
        return undefined;
      },
    },
  },
};
