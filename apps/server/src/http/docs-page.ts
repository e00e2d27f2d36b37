/** The API reference as one page without scripts: readable where there is no network, and under a strict policy. */
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';

export function docsPage(version: string): string {
  const tags = [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))];
  const nav = tags.map((tag) => `<a href="#${slug(tag)}">${escaped(tag)}</a>`).join('');
  const sections = tags.map((tag) => section(tag)).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Nebula API</title><style>${STYLE}</style></head>
<body><nav><b>Nebula API</b><small>${escaped(version)}</small>${nav}<a href="${API_PREFIX}/openapi.json">OpenAPI 3.1</a></nav>
<main><h1>API reference</h1>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Bodies and answers are JSON; errors are problems (RFC 9457) with a
<code>code</code> to compare and a <code>hint</code> for people. Lists come in pages: <code>next</code> is the
<code>cursor</code> of the next one.</p>
${sections}</main></body></html>`;
}

function section(tag: string): string {
  const own = (Object.keys(ROUTES) as OperationId[]).filter((id) => OPERATIONS[id].tag === tag);
  return `<section id="${slug(tag)}"><h2>${escaped(tag)}</h2>${own.map(operation).join('\n')}</section>`;
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
        `<h4>${status}${contract.stream === 'events' ? ' · stream of events' : ''}</h4>${status === '204' ? '<p>Nothing.</p>' : schemaView(schema)}`,
    ),
  ];
  const needs = contract.needs === 'public' ? 'everybody' : contract.needs;
  return `<details id="${id}"><summary><b class="${method.toLowerCase()}">${method}</b> <code>${url}</code>
<span>${escaped(contract.summary)}</span></summary><div><p class="meta"><code>${id}</code> · for <b>${needs}</b>${
    contract.isIdempotent ? ' · takes <code>Idempotency-Key</code>' : ''
  }</p>${parts.join('')}</div></details>`;
}

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
  readonly $id?: string;
}

function table(title: string, schema: Operation['params']): string {
  return schema === undefined ? '' : `<h4>${title}</h4>${schemaView(schema)}`;
}

function schemaView(schema: unknown): string {
  const node = schema as SchemaNode;
  if (node.properties === undefined) return `<p>${typeOf(node)}</p>`;
  const rows = Object.entries(node.properties).map(([name, member]) => {
    const mark = node.required?.includes(name) ? '' : '<small>optional</small>';
    const usual =
      member.default === undefined ? '' : ` Default <code>${escaped(JSON.stringify(member.default))}</code>.`;
    return `<tr><td><code>${escaped(name)}</code> ${mark}</td><td>${typeOf(member)}</td><td>${escaped(member.description ?? '')}${usual}${inner(member)}</td></tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

/** Members of lists and objects within, one level at a time. */
function inner(node: SchemaNode): string {
  const within = node.items ?? node;
  return within.properties === undefined ? '' : schemaView(within);
}

function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return `<code>${escaped(JSON.stringify(node.const))}</code>`;
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(' | ');
  if (node.type === 'array') return `list of ${node.items === undefined ? 'anything' : typeOf(node.items)}`;
  if (node.format === 'date-time') return 'time';
  return escaped(node.type ?? 'any JSON');
}

const slug = (text: string): string => text.toLowerCase().replaceAll(' ', '-');

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1f2a,#e8eaf0);--soft:light-dark(#5b6475,#9aa3b5);--line:light-dark(#e3e7ef,#2a3040);
--paper:light-dark(#fff,#12151d);--tint:light-dark(#f6f7fb,#191d28);--accent:light-dark(#4338ca,#a5b4fc)}
*{box-sizing:border-box}body{margin:0;font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:flex}
nav{position:sticky;top:0;height:100vh;width:220px;flex:none;padding:28px 20px;border-right:1px solid var(--line);display:flex;flex-direction:column;gap:8px;overflow:auto}
nav b{font-size:17px}nav small{color:var(--soft);margin-bottom:14px}nav a{color:var(--soft);text-decoration:none}nav a:hover{color:var(--accent)}
main{max-width:980px;padding:28px 44px 120px;flex:1;min-width:0}h1{font-size:30px;margin:0 0 8px}h2{margin:44px 0 12px;font-size:20px}
h4{margin:16px 0 6px;color:var(--soft);font-size:13px;text-transform:uppercase;letter-spacing:.05em}
details{border:1px solid var(--line);border-radius:10px;margin:8px 0;background:var(--paper)}details[open]{background:var(--tint)}
summary{cursor:pointer;padding:10px 14px;display:flex;gap:12px;align-items:baseline;flex-wrap:wrap;list-style:none}
summary span{color:var(--soft);margin-left:auto}details>div{padding:0 16px 16px}
code{font:13px ui-monospace,monospace}i{font-style:normal;color:var(--accent)}
summary b{font:700 12px ui-monospace,monospace;width:58px;display:inline-block}
.get{color:light-dark(#047857,#6ee7b7)}.post{color:light-dark(#1d4ed8,#93c5fd)}.put{color:light-dark(#b45309,#fcd34d)}.delete{color:light-dark(#b91c1c,#fca5a5)}
table{border-collapse:collapse;width:100%;font-size:14px}td{border-top:1px solid var(--line);padding:6px 10px 6px 0;vertical-align:top}
td:first-child{white-space:nowrap}td small,.meta{color:var(--soft)}td table{margin:6px 0 0 10px;width:calc(100% - 10px)}
@media(max-width:800px){nav{display:none}main{padding:20px}summary span{margin-left:0;width:100%}}`;
