/** Compiles triggers, and computes the input of the runs that they start. */
import type { CompiledValue } from '../expression/index.ts';
import { canonicalJson, type Json } from '../value.ts';
import type { CompileContext } from './context.ts';
import type { Plan, TriggerPlan } from './plan.ts';

type Check = (value: CompiledValue, path: (string | number)[]) => void;

export function compileTriggers({ definition, values }: CompileContext, check: Check): TriggerPlan[] {
  return (definition.triggers ?? []).map((trigger, index) => {
    const [kind, keys] = Object.entries(trigger)[0] as [string, { readonly input?: Json; readonly key?: string }];
    const path = ['triggers', index, kind];
    const input = keys.input === undefined ? undefined : values.value(keys.input, [...path, 'input']);
    const key = keys.key === undefined ? undefined : values.condition(keys.key, [...path, 'key']);
    if (input !== undefined) check(input, [...path, 'input']);
    if (key !== undefined) check(key, [...path, 'key']);
    return { definition: trigger, input, key };
  });
}

/** The input of a run, computed from the received data. Throws the errors of the expression. */
export function triggerInput(plan: Plan, { input }: TriggerPlan, came: Json, trigger: Json): Json {
  return input === undefined ? came : input.evaluate(scopeOf(plan, came, trigger), plan.newBudget());
}

export function triggerKey(plan: Plan, { key }: TriggerPlan, came: Json, trigger: Json): Json | undefined {
  return key?.evaluate(scopeOf(plan, came, trigger), plan.newBudget());
}

function scopeOf({ workflowId, version, variables }: Plan, input: Json, trigger: Json) {
  return {
    input,
    trigger,
    vars: variables,
    execution: {},
    workflow: { id: workflowId, version },
    node: () => undefined,
  };
}

/** The value of `config.start.key` for an input; throws what the expression throws. */
export function startKey(plan: Plan, input: Json): string {
  const value = plan.start?.key.evaluate(scopeOf(plan, input, null), plan.newBudget()) ?? '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
