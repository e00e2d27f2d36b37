/** The keys of the language, from the tables that the engine itself reads. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../playground.ts';
import { cell, code, type Page, page, table } from './page.ts';

/** The part of `core/definition/value-type.ts` that is shown here. */
interface ValueType {
  readonly is: string;
  readonly of?: ValueType | readonly (string | ValueType)[];
  readonly known?: readonly string[];
  readonly or?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly orOne?: boolean;
  readonly expression?: boolean;
  readonly moment?: boolean;
  readonly anyKeys?: boolean;
  readonly record?: RecordType;
  readonly what?: string;
}

interface KeyType {
  readonly type: ValueType;
  readonly doc: string;
  readonly required?: boolean;
  readonly later?: boolean;
  readonly kind?: boolean;
}

interface RecordType {
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly keys: Readonly<Record<string, KeyType>>;
}

const HEADINGS: Readonly<Record<string, string>> = {
  workflow: 'Workflow',
  config: 'Config',
  start: 'Start',
  node: 'Node',
  body: 'Body',
  edge: 'Edge',
  branch: 'Branch',
  case: 'Case',
  forEach: 'forEach',
  while: 'while',
  retryUntil: 'retryUntil',
  subWorkflow: 'Workflow in a workflow',
  dynamic: 'dynamic',
  wait: 'Wait',
  waitOne: 'One of several waits',
  approval: 'Approval',
  split: 'split',
  merge: 'merge',
  compensate: 'Compensate',
  cache: 'Cache',
  concurrency: 'Concurrency',
  rateLimit: 'Rate limit',
  retry: 'Retry',
  backoff: 'Backoff',
  timeout: 'Timeout',
  capabilities: 'Capabilities',
  files: 'Files',
  errorMatch: 'Error matcher',
  trigger: 'Trigger',
  webhook: 'Webhook',
  signature: 'Signature',
  schedule: 'Schedule',
  interval: 'Interval',
  event: 'Event',
  file: 'File',
};

export async function languagePage(): Promise<Page> {
  // The tables are not exported, so the reference reads them by path.
  const file = path.join(ROOT, 'packages/core/src/definition/keys.ts');
  const { RECORDS } = (await import(pathToFileURL(file).href)) as { readonly RECORDS: readonly RecordType[] };
  return page(
    'language',
    'Keys of a workflow',
    '`packages/core/src/definition/keys.ts`',
    [
      'All keys of a workflow file. An unknown key is an error, with a suggestion if a known one is close. [Writing workflows](../workflows.md) explains how to use the keys; [`workflow.schema.json`](../workflow.schema.json) is the same for editors.',
      'Durations are written `250ms`, `10s`, `1m30s`, `2h`, `1d`, or in ISO 8601 (`PT5M`). Ids have letters, digits, `_` and `-`.',
      ...RECORDS.map(section),
      laterSection(RECORDS),
    ].join('\n\n'),
  );
}

function section(record: RecordType): string {
  const built = Object.entries(record.keys).filter(([, key]) => !key.later);
  const rows = built.map(([name, key]) => [
    `${code(name)}${key.required ? ' (required)' : ''}`,
    typeText(key.type),
    cell(key.doc),
  ]);
  return `## ${HEADINGS[record.name] ?? record.name}\n\n${record.doc}\n\n${table(['key', 'value', 'meaning'], rows)}`;
}

/** Keys that the language has and the engine does not: refused, never ignored. */
function laterSection(records: readonly RecordType[]): string {
  const rows = records.flatMap((record) =>
    Object.entries(record.keys)
      .filter(([, key]) => key.later)
      .map(([name, key]) => [code(name), HEADINGS[record.name] ?? record.name, cell(key.doc)]),
  );
  return `## Not built yet\n\nThese keys belong to the language and come with later versions. Until then a file that has one is refused with \`NOT_BUILT_YET\`; nothing is ever silently ignored.\n\n${table(['key', 'in', 'meaning'], rows)}`;
}

export function typeText(type: ValueType): string {
  switch (type.is) {
    case 'choice':
      return (type.of as readonly string[]).map(code).join(', ');
    case 'name':
      return `${type.known!.map(code).join(', ')} or a registered name`;
    case 'integer':
    case 'number':
      return orExpression(
        `${type.is === 'integer' ? 'whole number' : 'number'} ${rangeText(type.min!, type.max!)}`,
        type,
      );
    case 'text':
      return 'string';
    case 'boolean':
      return '`true`, `false`';
    case 'duration':
      return [
        'duration',
        ...(type.moment ? ['date'] : []),
        ...(type.expression ? ['`{{ expression }}`'] : []),
        ...(type.or ?? []).map(code),
      ].join(' or ');
    case 'moment':
      return 'date or expression';
    case 'percent':
      return orExpression('share such as `80%`', type);
    case 'action':
      return '`name@version`';
    case 'edgeText':
      return '`a -> b`';
    case 'custom':
      return type.what!.replace(/^an? /, '');
    case 'value':
      return 'any value';
    case 'object':
      return 'mapping';
    case 'schema':
      return 'JSON Schema';
    case 'list':
      return `${type.orOne ? `${typeText(type.of as ValueType)}, or a ` : ''}list of ${typeText(type.of as ValueType)}`;
    case 'map':
      return `mapping of ${type.anyKeys ? 'string' : 'id'} → ${typeText(type.of as ValueType)}`;
    case 'record':
      if (HEADINGS[type.record!.name] === undefined) return `{ ${Object.keys(type.record!.keys).join(', ')} }`;
      return `[${HEADINGS[type.record!.name]?.toLowerCase()}](#${HEADINGS[type.record!.name]?.toLowerCase().replaceAll(' ', '-')})`;
    case 'either':
      return (type.of as readonly ValueType[]).map(typeText).join(', or ');
    default:
      return type.is;
  }
}

function orExpression(text: string, { expression }: ValueType): string {
  return expression ? `${text} or \`{{ expression }}\`` : text;
}

function rangeText(min: number, max: number): string {
  return max >= 1_000_000 ? `from ${min}` : `from ${min} to ${max}`;
}
