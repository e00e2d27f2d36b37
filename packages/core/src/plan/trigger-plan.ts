/** Compiles triggers, and computes the input of the runs that they start. */
import type { Capabilities } from '../action.ts';
import { NOTHING } from '../capability/narrow.ts';
import type { TriggerDefinition } from '../definition/model.ts';
import type { CompiledValue } from '../expression/index.ts';
import { canonicalJson, type Json } from '../value.ts';
import type { CompileContext } from './context.ts';
import { checkCeiling } from './kinds/action.ts';
import type { Plan, TriggerPlan } from './plan.ts';

type Check = (value: CompiledValue, path: (string | number)[]) => void;

export function compileTriggers(context: CompileContext, check: Check): TriggerPlan[] {
  const { definition, values } = context;
  return (definition.triggers ?? []).map((trigger, index) => {
    const [kind, keys] = Object.entries(trigger)[0] as [string, { readonly input?: Json; readonly key?: string }];
    const path = ['triggers', index, kind];
    checkCeiling(context, askedByTrigger(trigger), () => [...path, 'path']);
    const input = keys.input === undefined ? undefined : values.value(keys.input, [...path, 'input']);
    const key = keys.key === undefined ? undefined : values.condition(keys.key, [...path, 'key']);
    if (input !== undefined) check(input, [...path, 'input']);
    if (key !== undefined) check(key, [...path, 'key']);
    return { definition: trigger, input, key };
  });
}

/** A file trigger tells its runs the names of files, so it asks to read what its pattern matches. */
export function askedByTrigger({ file }: TriggerDefinition): Capabilities {
  return file === undefined ? NOTHING : { files: { read: [watchedFiles(file.path)] } };
}

/**
 * The pattern of a file trigger as a capability, which may match more and never less: a name with `?`, `[…]` or `{…}` is
 * any name, and a plain path is a file or a folder with its files.
 */
function watchedFiles(pattern: string): string {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  const choice = names.findIndex((name) => name.split('{').length !== name.split('}').length);
  // The alternatives of a choice that contains slashes have different numbers of folders.
  if (choice >= 0) return [...names.slice(0, choice), '**'].join('/');
  const plain = names.map((name) => (/[?[\]{}]/.test(name) ? '*' : name));
  return (plain.at(-1) ?? '').includes('*') ? plain.join('/') : [...plain, '**'].join('/');
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
