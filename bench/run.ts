/** `npm run bench -- [--only W1,W3] [--json FILE]`: prints what was measured beside the limit of the machine. */
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { s4 } from './server/followers.ts';
import { h1 } from './server/hostile.ts';
import { s3 } from './server/live.ts';
import { s1, s2 } from './server/requests.ts';
import { w1, w2 } from './workloads/chain.ts';
import { w9 } from './workloads/children.ts';
import { w7 } from './workloads/expressions.ts';
import { w3 } from './workloads/fan-out.ts';
import { w4 } from './workloads/first-run.ts';
import { w5 } from './workloads/layers.ts';
import { w8 } from './workloads/loops.ts';
import { w10 } from './workloads/parked.ts';
import { w6 } from './workloads/recorded.ts';
import { w11 } from './workloads/schemas.ts';

const WORKLOADS: Readonly<Record<string, { readonly title: string; run(): Promise<Record<string, number>> }>> = {
  W1: { title: '1,000 runs of a 10-node chain, 50 at a time', run: w1 },
  W2: { title: 'the same, one at a time', run: w2 },
  W3: { title: 'one run with 1,000 parallel nodes and a join', run: w3 },
  W4: { title: 'first run of a process, memory', run: w4 },
  W5: { title: 'one DAG of 1,000, 10,000 and 100,000 nodes', run: w5 },
  W6: { title: 'recorded DAGs, 16 slots', run: w6 },
  W7: { title: 'expressions, against jsonata and jexl', run: w7 },
  W8: { title: 'one forEach of 1,000, 10,000 and 100,000 items', run: w8 },
  W9: { title: 'one run with 10,000 child executions', run: w9 },
  W10: { title: '100,000 parked runs', run: w10 },
  W11: { title: 'checks of JSON Schemas, against ajv', run: w11 },
  S1: { title: 'a server: starts of a run of one node', run: s1 },
  S2: { title: 'a server: reads of 1,000 and of 100,000 stored runs', run: s2 },
  S3: { title: 'a server: 500 clients follow 200 runs per second', run: s3 },
  S4: { title: 'a server: 200 clients begin to follow 600 runs at once', run: s4 },
  H1: { title: 'a server: the hostile suite, and the delay of its event loop', run: h1 },
};

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'string' } } });
const names = values.only === undefined ? Object.keys(WORKLOADS) : values.only.split(',');
const unknown = names.filter((name) => !Object.hasOwn(WORKLOADS, name));
if (unknown.length > 0) {
  console.error(`There is no workload ${unknown.join(', ')}; there are ${Object.keys(WORKLOADS).join(', ')}.`);
  process.exit(2);
}

const results: Record<string, Record<string, number>> = {};
for (const name of names) {
  const { title, run } = WORKLOADS[name] as (typeof WORKLOADS)[string];
  console.log(`\n${name}  ${title}`);
  const figures = await run();
  results[name] = figures;
  const width = Math.max(0, ...Object.keys(figures).map((key) => key.length));
  for (const [key, value] of Object.entries(figures)) {
    console.log(`  ${key.padEnd(width)}  ${value.toLocaleString('en-US').padStart(12)}`);
  }
  if (Object.keys(figures).length === 0) console.log('  (its data is not here)');
}
if (values.json !== undefined) {
  const [cpu] = cpus();
  const machine = {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  writeFileSync(values.json, `${JSON.stringify({ date: new Date().toISOString(), machine, results }, null, 2)}\n`);
}
