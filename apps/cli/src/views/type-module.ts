/** The module that `nebula types` writes: types of actions and workflows, and functions that know them by name. */
import { type Action, isJsonObject, type Json, type JsonSchema, type WorkflowDefinition } from '@nebula/core';
import { printable } from '../terminal/width.ts';
import { pascal, quoted, typeDeclarations, uniqueName } from './schema-types.ts';

interface Named {
  readonly name: string;
  readonly typeName: string;
  readonly input: JsonSchema | undefined;
  readonly output: JsonSchema | undefined;
}

export function typeModule(actions: readonly Action[], workflows: readonly WorkflowDefinition[]): string {
  const taken = new Set(['Actions', 'Workflows']);
  const named = (name: string, base: string, input: JsonSchema | undefined, output: JsonSchema | undefined): Named => {
    const typeName = uniqueName(base, taken);
    taken.add(typeName);
    return { name, typeName, input, output };
  };
  const ofActions = [...actions]
    .map((action) => ({ action, name: `${action.id}@${action.version}` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ action, name }) => named(name, pascal(name), action.input, action.output));
  const ofWorkflows = [...workflows]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, input, output }) => named(id, `${pascal(id)}Workflow`, input, outputSchema(output)));
  const text = [
    '/** Written by `nebula types`; changes are lost when it is written again. */',
    "import { actionsNamed, workflowsNamed } from '@nebula/sdk';",
    '',
    ...[...ofActions, ...ofWorkflows].flatMap(({ typeName, input, output }) => [
      typeDeclarations(`${typeName}Input`, input),
      '',
      typeDeclarations(`${typeName}Output`, output),
      '',
    ]),
    table('Actions', [...ofActions, ...newestOfMajor(ofActions)]),
    '',
    table('Workflows', ofWorkflows),
    '',
    "/** An action by its name: `action('http.request@1')`. */",
    'export const action = actionsNamed<Actions>();',
    '/** A workflow by its id. */',
    'export const workflowNamed = workflowsNamed<Workflows>();',
    '',
  ].join('\n');
  return printable(text);
}

/** `payment.charge@2` is the newest 2.x, as in a workflow's file. */
function newestOfMajor(actions: readonly Named[]): Named[] {
  const minorOf = ({ name }: Named): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
  const newest = new Map<string, Named>();
  for (const action of actions) {
    const major = action.name.replace(/(@\d+)\.\d+$/, '$1');
    const known = newest.get(major);
    if (known === undefined || minorOf(known) < minorOf(action)) newest.set(major, { ...action, name: major });
  }
  return [...newest.values()].filter(({ name }) => actions.every((action) => action.name !== name));
}

function table(name: string, entries: readonly Named[]): string {
  const lines = entries.map(
    (one) =>
      `  readonly ${quoted(one.name)}: { readonly input: ${one.typeName}Input; readonly output: ${one.typeName}Output };`,
  );
  return [`export interface ${name} {`, ...lines, '}'].join('\n');
}

/** The schema of a workflow's `output`, as far as its members and literals give it. */
function outputSchema(output: Json | undefined): JsonSchema {
  if (typeof output === 'string') return output.includes('{{') ? templateSchema(output) : { type: 'string' };
  if (Array.isArray(output)) {
    return { type: 'array', prefixItems: output.map(outputSchema), items: false, minItems: output.length };
  }
  if (!isJsonObject(output)) return output === undefined ? true : { const: output };
  const properties = Object.fromEntries(Object.entries(output).map(([key, member]) => [key, outputSchema(member)]));
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** A single expression keeps the type of its value, which is unknown here. */
function templateSchema(text: string): JsonSchema {
  const isSingle = text.startsWith('{{') && text.endsWith('}}');
  return isSingle ? true : { type: 'string' };
}
