/** The project whose server is backed up under load: its actions write to a log that is outside of all data folders. */
import { existsSync, readFileSync } from 'node:fs';

export interface WorldLine {
  readonly what: 'begin' | 'done';
  readonly executionId: string;
  readonly node: string;
  readonly key: string;
  /** The server that ran the attempt. */
  readonly life: string;
}

/** `WORLD` is the log, `LIFE` the name of the server. */
export const CONFIG = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const { WORLD, LIFE } = process.env;
const say = (what, { executionId, node, idempotencyKey: key }) =>
  appendFileSync(WORLD, JSON.stringify({ what, executionId, node, key, life: LIFE }) + '\\n');
const run = async (ctx, { value, padding = 0 }) => {
  say('begin', ctx);
  await ctx.sleep(5);
  say('done', ctx);
  await ctx.sleep(5);
  return { value, padding: '.'.repeat(padding) };
};
const happened = (key) => existsSync(WORLD) && readFileSync(WORLD, 'utf8').includes('"done","executionId":"' + key.split(':')[0] + '"') &&
  readFileSync(WORLD, 'utf8').split('\\n').some((line) => line.startsWith('{"what":"done"') && line.includes(JSON.stringify(key)));
export default {
  concurrency: 32,
  server: { workflows: ['workflows/*.yaml'] },
  actions: [
    { id: 'effect.repeat', version: '1', effect: 'idempotent', run },
    { id: 'effect.once', version: '1', effect: 'once', run },
    {
      id: 'effect.verified', version: '1', effect: 'once', run,
      verify: (ctx, { value }) => (happened(ctx.idempotencyKey) ? { happened: true, output: { value, padding: '' } } : { happened: false }),
    },
  ],
};
`;

const RETRY = 'config: { retry: { policy: fixed, delay: 1ms, attempts: 100, lost: 100 } }';

export const WORKFLOWS: Readonly<Record<string, string>> = {
  // A chain with a large value.
  'workflows/chain.yaml': `
id: chain
${RETRY}
nodes:
  a: { action: effect.repeat@1, with: { value: "{{ $input.n }}" } }
  b: { needs: [a], action: effect.verified@1, with: { value: "{{ $a.value + 1 }}" } }
  c: { needs: [b], action: effect.repeat@1, with: { value: "{{ $b.value + 1 }}", padding: 90000 } }
  d: { needs: [c], action: effect.repeat@1, with: { value: "{{ $c.value + $c.padding.length }}" } }
output: "{{ $d.value }}"
`,
  // Waits, children, and an effect that only a person can settle.
  'workflows/tree.yaml': `
id: tree
${RETRY}
nodes:
  kids: { forEach: { in: [1, 2] }, do: { nodes: { kid: { workflow: { id: chain, mode: child, input: { n: "{{ $item }}" } } } } } }
  nap: { wait: { for: 30ms } }
  go: { needs: [nap], wait: { signal: go, key: "{{ $input.n }}" } }
  pay: { needs: [go], action: effect.once@1, with: { value: "{{ $input.n }}" } }
  sum: { needs: [kids, pay], action: effect.repeat@1, with: { value: "{{ $kids[0] + $kids[1] + $pay.value }}" } }
output: "{{ $sum.value }}"
`,
};

export function outputOf(workflowId: string, n: number): number {
  return workflowId === 'chain' ? n + 2 + 90_000 : 1 + 2 + 90_000 + (2 + 2 + 90_000) + n;
}

export function readWorld(file: string): WorldLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as WorldLine);
}
