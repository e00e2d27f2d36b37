/** The API reference as one page without scripts: it works offline and under a strict content security policy. */
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';
import { GUIDE, LIVE } from './docs-guide.ts';
import { STYLE } from './docs-style.ts';

export function docsPage(version: string): string {
  const tags = [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))];
  const links = (titles: readonly string[]): string =>
    titles.map((title) => `<a href="#${slug(title)}">${escaped(title)}</a>`).join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Nebula API</title><style>${STYLE}</style></head>
<body><nav><b>Nebula API</b><small>${escaped(version)}</small>
<h5>Guide</h5>${links(GUIDE.map(({ title }) => title))}
<h5>Reference</h5>${links(tags)}
<h5>For programs</h5><a href="${API_PREFIX}/openapi.json">OpenAPI 3.1</a></nav>
<main><h1>API reference</h1><p class="lead">Everything that the command line and the client do is here: ${
    Object.keys(ROUTES).length
  } operations under <code>${API_PREFIX}</code>.</p>
${GUIDE.map(chapter).join('\n')}
${tags.map(section).join('\n')}</main></body></html>`;
}

function chapter({ title, text, example }: (typeof GUIDE)[number]): string {
  const code = example === undefined ? '' : `<pre>${escaped(example)}</pre>`;
  return `<section id="${slug(title)}"><h2>${escaped(title)}</h2>${text.map((one) => `<p>${prose(one)}</p>`).join('')}${code}</section>`;
}

function section(tag: string): string {
  const own = (Object.keys(ROUTES) as OperationId[]).filter((id) => OPERATIONS[id].tag === tag);
  const { text, example = '' } = LIVE;
  const guide =
    tag === 'Live' ? `${text.map((one) => `<p>${prose(one)}</p>`).join('')}<pre>${escaped(example)}</pre>` : '';
  return `<section id="${slug(tag)}"><h2>${escaped(tag)}</h2>${guide}${own.map(operation).join('\n')}</section>`;
}

function operation(id: OperationId): string {
  const contract: Operation = OPERATIONS[id];
  const [method = '', path = ''] = ROUTES[id].split(' ');
  const url = API_PREFIX + path.replaceAll(/:(\w+)/g, '<i>{$1}</i>');
  const parts = [
    table('Path', contract.params),
    table('Query', contract.query),
    contract.body === undefined ? '' : `<h4>Body</h4>${schemaView(contract.body)}`,
    ...Object.entries(contract.answers).map(
      ([status, schema]) =>
        `<h4>Answer <em>${status}</em>${SHAPES[contract.stream ?? 'json']}</h4>${status === '204' ? '<p>Nothing.</p>' : schemaView(schema)}`,
    ),
  ];
  const needs = contract.needs === 'public' ? 'everybody' : contract.needs;
  return `<details id="${id}"><summary><b class="${method.toLowerCase()}">${method}</b><code>${url}</code>
<span>${prose(contract.summary)}</span></summary><div><p class="meta"><code>${id}</code> · for <em>${needs}</em>${
    contract.isIdempotent ? ' · takes <code>Idempotency-Key</code>' : ''
  }</p>${parts.join('')}</div></details>`;
}

const SHAPES = { json: '', events: ' as a stream of events', bytes: ' as bytes' } as const;

interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: unknown;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
}

function table(title: string, schema: Operation['params']): string {
  return schema === undefined ? '' : `<h4>${title}</h4>${schemaView(schema)}`;
}

function schemaView(schema: unknown): string {
  const node = schema as SchemaNode;
  if (node.properties === undefined) return `<p>${typeOf(node)}</p>`;
  const members = Object.entries(node.properties);
  if (members.length === 0) return '<p>Nothing.</p>';
  const rows = members.map(([name, member]) => {
    const mark = node.required?.includes(name) ? '' : ' <small>optional</small>';
    return `<tr><td><code>${escaped(name)}</code>${mark}</td><td>${typeOf(member)}</td><td>${meaning(member)}${inner(member)}</td></tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

function meaning(member: SchemaNode): string {
  const { description = '', minimum, maximum } = member;
  const range =
    minimum === undefined
      ? ''
      : maximum === undefined || maximum > 1_000_000_000
        ? `From ${minimum}.`
        : `From ${minimum} to ${maximum.toLocaleString('en')}.`;
  const usual = member.default === undefined ? '' : `Default <code>${escaped(JSON.stringify(member.default))}</code>.`;
  return [prose(description), range, usual].filter((one) => one !== '').join(' ');
}

/** The members of a nested list or object, one level at a time. */
function inner(node: SchemaNode): string {
  const within = node.items ?? node.anyOf?.find(({ properties }) => properties !== undefined) ?? node;
  return within.properties === undefined ? '' : schemaView(within);
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
};

function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return `<code class="value">${escaped(JSON.stringify(node.const))}</code>`;
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(node.anyOf.every(isValue) ? ' ' : ' or ');
  if (node.type === 'array') return `list of ${node.items === undefined ? 'anything' : typeOf(node.items)}`;
  if (node.format === 'date-time') return 'moment';
  const values = Object.values(node.patternProperties ?? {})[0];
  if (node.type === 'object' && values !== undefined) return `object of ${typeOf(values)}`;
  return KINDS[node.type ?? ''] ?? escaped(node.type ?? 'any JSON');
}

const isValue = (node: SchemaNode): boolean => node.const !== undefined;

const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** Text with code in backticks as HTML. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
