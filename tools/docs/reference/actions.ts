/** The built-in actions, from their own schemas. */
import { builtinActions } from '@nebula/actions';
import type { Action, Json, JsonObject, JsonSchema } from '@nebula/core';
import { cell, code, type Page, page, table } from './page.ts';

export function actionsPage(): Page {
  const names = builtinActions.map(({ id, title }) => `- [\`${id}\`](#${anchorOf(id)}): ${title}`);
  return page(
    'actions',
    'Built-in actions',
    'the schemas in `packages/actions/src`',
    [
      'The actions that workflows can use without code of your own. `npx nebula actions` lists them with those of your project, `npx nebula actions http.request` describes one. [Writing actions](../actions.md) shows how to add more.',
      names.join('\n'),
      ...builtinActions.map(section),
    ].join('\n\n'),
  );
}

function anchorOf(id: string): string {
  return id.replaceAll('.', '');
}

function section(action: Action): string {
  const { id, version, title, description } = action;
  const needs = (action.capabilities ?? []).map(code).join(', ') || 'nothing';
  return [
    `## ${id}`,
    `**${title}.** ${description}`,
    `${code(`${id}@${version}`)} · effect ${effectText(action)} · needs ${needs}`,
    '**Input**',
    membersText(action.input),
    '**Output**',
    membersText(action.output),
  ].join('\n\n');
}

function effectText({ effect }: Action): string {
  return typeof effect === 'function' ? 'depends on the input' : code(effect ?? 'once');
}

function membersText(schema: JsonSchema | undefined): string {
  if (schema === false) return 'None: it never completes.';
  if (schema === undefined || schema === true) return 'Anything.';
  const {
    properties,
    required = [],
    description,
  } = schema as JsonObject & {
    properties?: Record<string, JsonObject>;
    required?: readonly string[];
  };
  if (properties === undefined) return typeof description === 'string' ? description : 'Anything.';
  const rows = Object.entries(properties).map(([name, member]) => [
    `${code(name)}${required.includes(name) ? '' : '?'}`,
    typeText(member),
    cell(
      [member.description ?? member.title ?? '', defaultText(member), exampleText(member)]
        .filter((text) => text !== '')
        .join(' '),
    ),
  ]);
  return table(['member', 'type', 'meaning'], rows);
}

function typeText(member: JsonObject): string {
  if (Array.isArray(member.enum)) return member.enum.map((value) => code(String(value))).join(', ');
  if (typeof member.type === 'string') return member.type;
  return Array.isArray(member.type) ? member.type.join(', ') : 'any';
}

function defaultText(member: JsonObject): string {
  return member.default === undefined ? '' : `Default ${code(plain(member.default))}.`;
}

function exampleText(member: JsonObject): string {
  const first = Array.isArray(member.examples) ? member.examples[0] : undefined;
  return first === undefined ? '' : `Example: ${code(plain(first))}.`;
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
