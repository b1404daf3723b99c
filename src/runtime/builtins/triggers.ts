import { errorText, HarnError } from '../../base/harn-error.ts';
import type { Json } from '../../base/json.ts';
import { shownLetter } from '../../lifecycle/dead-letters.ts';
import { isSpecObject } from '../../lifecycle/spec-value.ts';
import { bindingHandle } from '../../lifecycle/trigger-registry.ts';
import { parseTriggerSpec } from '../../lifecycle/trigger-spec.ts';
import { lifecycleOf } from '../agents/agent-lifecycle.ts';
import { agentValue, field, withoutHarness } from '../agents/agent-values.ts';
import { specValue } from '../agents/lifecycle-values.ts';
import { eventRequest, triggerService } from '../agents/trigger-service.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { typeOf, type Value } from '../value.ts';

/** Triggers in the process of the script (spec/agents.md 9.1 to 9.4). */
export const TRIGGERS: BuiltinGroup = {
  name: 'triggers',
  title: 'Triggers',
  errors: [
    { text: 'trigger_register: spec must be a dict, got T', when: '`trigger_register`' },
    { text: 'trigger_register: …', when: 'a field that is not valid' },
    { text: 'trigger_fire: …', when: 'the binding is unknown or not active, or the event lacks `provider` or `kind`' },
  ],
  builtins: {
    trigger_register: {
      signature: '(spec: TriggerSpec | dict) -> dict',
      doc: 'Binds a handler to events of a provider and gives the handle of the binding. Under an `autonomy_tier` other than `act_auto` the handler and what it starts may not write files, run programs or reach the network.',
      call: (context, _depth, ...args) => {
        const [given] = withoutHarness(args);
        const spec = specValue(given);
        if (!isSpecObject(spec)) throw plainError(`trigger_register: spec must be a dict, got ${typeOf(given)}`);
        const { triggers, platform } = lifecycleOf(context.run);
        try {
          const parsed = parseTriggerSpec(spec, 'register');
          const handlerKind = parsed.handler?.kind === 'a2a' || parsed.handler?.kind === 'worker' ? parsed.handler.kind : 'local';
          const id = parsed.id ?? platform.random.id('trigger');
          return agentValue(
            bindingHandle(triggers.register({ id, source: 'dynamic', kind: parsed.kind, spec: parsed, handlerKind, state: 'active' })),
          );
        } catch (error) {
          if (error instanceof HarnError && error.code.startsWith('HARN-')) throw error;
          throw plainError(`trigger_register: ${errorText(error)}`);
        }
      },
    },
    trigger_list: {
      signature: '() -> list',
      doc: 'All bindings in the order of their registration, those of parked workers and ended ones included.',
      call: (context) =>
        lifecycleOf(context.run)
          .triggers.list()
          .map((binding) => agentValue(bindingHandle(binding))),
    },
    trigger_fire: {
      signature: '(binding: any, event: dict) -> dict',
      doc: 'Hands an event to one binding and gives what became of it. Throws for a binding that is unknown or not active.',
      colour: 'async',
      call: async (context, _depth, ...args) => {
        const [binding, event] = withoutHarness(args);
        return agentValue(await triggerService(context.run).dispatcher.fire(bindingId(binding), eventRequest(event)));
      },
    },
    trigger_replay: {
      signature: '(event_id: any) -> dict',
      doc: 'Dispatches an event of this run once more.',
      colour: 'async',
      call: async (context, _depth, ...args) => {
        const [eventId] = withoutHarness(args);
        return agentValue(await triggerService(context.run).dispatcher.replay(display(eventId)));
      },
    },
    trigger_inspect_dlq: {
      signature: '() -> list',
      doc: 'Events whose handlers failed to the last retry.',
      call: (context) =>
        triggerService(context.run)
          .dispatcher.deadLetters.list()
          .map((letter) => agentValue(shownLetter(letter))),
    },
    trigger_inspect_action_graph: {
      signature: '(trace_id: any = nil) -> list',
      doc: 'Which steps events led to, as nodes and edges; of one trace when it is named.',
      call: (context, _depth, ...args) => {
        const [traceId] = withoutHarness(args);
        const records = lifecycleOf(context.run).eventLog.read('observability.action_graph', 0);
        return records
          .filter(({ headers }) => traceId === undefined || headers.trace_id === display(traceId))
          .map(({ kind, payload, headers }) => agentValue({ kind, payload, headers }));
      },
    },
    trigger_inspect_lifecycle: {
      signature: '(kind: any = nil) -> list',
      doc: 'What the dispatcher did so far, all of it or one kind of step.',
      call: (context, _depth, ...args) => {
        const [kind] = withoutHarness(args);
        const records = lifecycleOf(context.run).eventLog.read('triggers.lifecycle', 0);
        const wanted = kind === undefined ? records : records.filter((record) => record.kind === display(kind));
        return wanted.map((record) => agentValue({ kind: record.kind, payload: record.payload, headers: record.headers }));
      },
    },
    handler_context: {
      signature: '() -> any',
      doc: 'The binding and event that the running handler was called for; nil outside of a handler.',
      call: (context) => agentValue((triggerService(context.run).handlerContext ?? null) as Json),
    },
  },
};

/** A handle, `{id, version}` of a summary, or the id itself. */
function bindingId(binding: Value): string {
  return display(field(binding, 'id') ?? binding);
}
