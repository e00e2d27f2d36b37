/** The API reference as one page without scripts: it works offline and under a strict content security policy. */
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';
import type { FastifyInstance } from 'fastify';
import { GUIDE, LIVE } from './docs-guide.ts';
import { openApiDocument } from './openapi.ts';

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

/** The style sheet of the API reference, light and dark. */
const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#171a24,#e8eaf0);--soft:light-dark(#5b6475,#9aa3b5);--line:light-dark(#e5e8f0,#262c3b);
--paper:light-dark(#fff,#0f121a);--tint:light-dark(#f7f8fc,#151925);--accent:light-dark(#4f46e5,#a5b4fc);--chip:light-dark(#eef0f7,#222838);
--get:light-dark(#047857,#6ee7b7);--post:light-dark(#1d4ed8,#93c5fd);--put:light-dark(#b45309,#fcd34d);--delete:light-dark(#b91c1c,#fca5a5)}
*{box-sizing:border-box}html{scroll-behavior:smooth;scroll-padding-top:20px}
body{margin:0;font:15px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:flex}
nav{position:sticky;top:0;height:100vh;width:240px;flex:none;padding:28px 16px;border-right:1px solid var(--line);background:var(--tint);display:flex;flex-direction:column;overflow:auto}
nav b,nav small,nav h5{padding:0 10px}nav b{font-size:17px;letter-spacing:-.01em}nav small{color:var(--soft)}
nav h5{margin:22px 0 4px;font-size:11px;text-transform:uppercase;letter-spacing:.08em;color:var(--soft)}
nav a{color:var(--ink);text-decoration:none;padding:4px 10px;border-radius:7px;font-size:14px}nav a:hover{background:var(--chip);color:var(--accent)}
main{max-width:1040px;padding:36px 52px 140px;flex:1;min-width:0}
h1{font-size:34px;line-height:1.2;letter-spacing:-.02em;margin:0 0 6px}.lead{font-size:17px;color:var(--soft);margin:0 0 12px}
h2{margin:0 0 10px;font-size:21px;letter-spacing:-.01em}section{margin-top:52px}section>p{max-width:76ch;margin:8px 0}
h4{margin:22px 0 6px;color:var(--soft);font-size:11px;font-weight:600;text-transform:uppercase;letter-spacing:.08em}h4 em{color:var(--ink)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,monospace}p code,td code,.lead code{background:var(--chip);border-radius:5px;padding:1px 5px;white-space:nowrap}
td:first-child code{background:none;padding:0;font-weight:600}code.value{white-space:nowrap}
pre{margin:14px 0;padding:16px 18px;border:1px solid var(--line);border-radius:12px;background:var(--tint);font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,monospace;overflow:auto}
em{font-style:normal;font-weight:600}i{font-style:normal;color:var(--accent)}
details{border:1px solid var(--line);border-radius:12px;margin:8px 0;overflow:hidden}details:hover{border-color:var(--soft)}
details[open]{background:var(--tint)}details[open]>summary{border-bottom:1px solid var(--line)}details>div{padding:4px 18px 20px}
summary{cursor:pointer;padding:11px 16px;display:grid;grid-template-columns:64px minmax(0,1fr) minmax(0,1fr);gap:14px;align-items:baseline;list-style:none}
summary::-webkit-details-marker{display:none}summary code{overflow-wrap:anywhere}summary span{color:var(--soft);font-size:14px}
summary:focus-visible,nav a:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
summary b{font:700 11px/20px ui-monospace,monospace;text-align:center;border-radius:6px;color:var(--c);background:color-mix(in srgb,var(--c) 12%,transparent)}
.get{--c:var(--get)}.post{--c:var(--post)}.put{--c:var(--put)}.delete{--c:var(--delete)}
.meta{color:var(--soft);font-size:13px;margin:12px 0 0}.meta em{color:var(--ink)}
table{border-collapse:collapse;width:100%;font-size:14px}td{border-top:1px solid var(--line);padding:7px 14px 7px 0;vertical-align:top;overflow-wrap:break-word}
tr:first-child>td{border-top:0}td:first-child{white-space:nowrap;width:1%}td:nth-child(2){color:var(--soft);width:24%;min-width:110px}
td small{color:var(--soft)}td table{margin:8px 0 2px;padding-left:12px;border-left:2px solid var(--line)}td table td{padding-left:12px}
@media(max-width:860px){nav{display:none}main{padding:22px 18px 80px}summary{grid-template-columns:64px minmax(0,1fr)}summary span{grid-column:1/-1}td:first-child{white-space:normal;width:auto}}`;

/** Scripts are not needed; the styles are the page's own. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function publicRoutes(app: FastifyInstance, version: string): void {
  const document = JSON.stringify(openApiDocument(version));
  const page = docsPage(version);
  app.get(`${API_PREFIX}/openapi.json`, async (_request, reply) => reply.type('application/json').send(document));
  app.get('/api/docs', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page),
  );
}
