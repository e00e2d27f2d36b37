/** The results of a suite of lives, as tables. */
import { Coverage, ENTRY_KINDS } from './coverage.ts';
import { FAULT_KINDS, type FaultKind } from './faults.ts';
import type { Life } from './script.ts';

export class Tally {
  readonly coverage = new Coverage();
  readonly injected = new Map<FaultKind, number>();
  lives = 0;
  runs = 0;
  nodes = 0;
  crossings = 0;
  /** Snapshots that were compared with their journals, and deleted runs. */
  snapshots = 0;
  deletions = 0;
  /** The fewest engines, runs and nodes of any life. */
  least = { engines: Number.POSITIVE_INFINITY, runs: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY };

  add({ world, runs, nodes }: Life): void {
    this.lives++;
    this.runs += runs;
    this.nodes += nodes;
    this.crossings += world.faults.crossings;
    this.snapshots += world.oracle.snapshots;
    this.deletions += world.oracle.storage.deletions;
    this.least = {
      engines: Math.min(this.least.engines, world.slots.length),
      runs: Math.min(this.least.runs, runs),
      nodes: Math.min(this.least.nodes, nodes),
    };
    for (const [kind, count] of world.faults.injected) this.injected.set(kind, (this.injected.get(kind) ?? 0) + count);
    this.coverage.add(world.coverage);
  }

  toString(): string {
    return [this.summary(), '', this.faultTable(), '', this.matrix(), '', this.deathTable()].join('\n');
  }

  private summary(): string {
    const faults = [...this.injected.values()].reduce((sum, count) => sum + count, 0);
    const entries = [...this.coverage.entries.values()].reduce((sum, count) => sum + count, 0);
    const facts = [
      `${this.lives} lives`,
      `${this.runs} runs`,
      `${this.nodes} nodes`,
      `${entries} entries`,
      `${this.crossings} crash points`,
      `${faults} faults`,
      `${this.snapshots} snapshots`,
      `${this.deletions} deleted runs`,
    ];
    return facts.join(', ');
  }

  private faultTable(): string {
    const lines = FAULT_KINDS.map((kind) => `  ${kind.padEnd(20)} ${String(this.injected.get(kind) ?? 0).padStart(9)}`);
    return ['faults injected', ...lines].join('\n');
  }

  /** How often an entry of each kind met a fault of each kind. */
  private matrix(): string {
    const names = ENTRY_KINDS.map((kind) => kind.replace('node.', '').replace('run.', 'run:').slice(0, 9));
    const head = `  ${'entries that met'.padEnd(20)}${names.map((name) => name.padStart(10)).join('')}`;
    const lines = FAULT_KINDS.map((fault) => {
      const cells = ENTRY_KINDS.map((entry) => String(this.coverage.count(entry, fault)).padStart(10));
      return `  ${fault.padEnd(20)}${cells.join('')}`;
    });
    return [head, ...lines].join('\n');
  }

  private deathTable(): string {
    const sites = new Set([...this.coverage.deaths.keys()].map((key) => key.slice(key.indexOf(' ') + 1)));
    const count = (side: string, site: string): string =>
      String(this.coverage.deaths.get(`${side} ${site}`) ?? 0).padStart(8);
    const lines = [...sites]
      .sort()
      .map((site) => `  ${site.padEnd(24)}${count('before', site)}${count('after', site)}`);
    return [`  ${'processes that died'.padEnd(24)}  before   after`, ...lines].join('\n');
  }
}

/** All sites at which a process can die; a site that is not listed was never crossed. */
const SITES = [
  ...['append', 'load', 'heads', 'execution', 'expired', 'send', 'inbox', 'claimDue'].map((name) => `store.${name}`),
  ...['heartbeat', 'liveWorkers', 'reapWorkers', 'registerWorkflow', 'workflowVersion', 'watch'].map(
    (name) => `store.${name}`,
  ),
  ...['saveSnapshot', 'deleteExecution', 'publish', 'feed', 'known'].map((name) => `store.${name}`),
  ...['enqueue', 'poll', 'onAvailable', 'ack', 'nack', 'extend'].map((name) => `queue.${name}`),
  ...[
    ...['claim', 'extend', 'log', 'end'].map((name) => `remote.${name}`),
    'blobs.put',
    'blobs.get',
    'blobs.delete',
    'logs.delete',
    'sandbox.run',
    'sandbox.verify',
    'digest',
    'logs.append',
    'logs.flush',
    'timer',
    'soon',
  ],
];

/** Sites, with their side, at which no process died. */
export function sitesToDieAt({ coverage }: Tally): string[] {
  const all = SITES.flatMap((site) => [`before ${site}`, `after ${site}`]);
  return all.filter((key) => !coverage.deaths.has(key));
}
