/**
 * Every golden file replays from what is in it alone: the definition, the journal, and the state, document and timeline
 * that the journal gave when it was recorded. A file is never changed: `recorded.sha256` has the hash of each. For a
 * feature that has no file yet, `GOLDEN=record npm test -- packages/core/test/golden` writes one.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NODE_KINDS } from '../../src/definition/node-keys.ts';
import {
  compilePlan,
  createCatalog,
  type Entry,
  isNodeEvent,
  isRunEvent,
  type Json,
  nodeStatusAfter,
  type Plan,
  RunView,
  runStatusAfter,
  type TimelineEvent,
  timelineOf,
  type WorkflowDefinition,
} from '../../src/index.ts';
import { type BlobRef, decodeSnapshot, documentOf, encodeSnapshot, statusOf } from '../../src/run.ts';
import { type Drive, definitionOf, testActions } from '../run/drive.ts';
import { acceptedRuns, oldRuns, stuckRun } from '../run/old-runs.ts';
import * as earlier from '../run/scenario.ts';
import { FEATURES, type Feature, play } from './features.ts';

interface Golden {
  readonly definition: WorkflowDefinition;
  readonly workflows: Readonly<Record<string, WorkflowDefinition>>;
  /** Versions 2, 3 … to which the run is migrated. */
  readonly versions?: readonly WorkflowDefinition[];
  readonly frames: Drive['frames'];
  readonly state: { readonly format: number };
  readonly document: object;
  readonly timeline: readonly TimelineEvent[];
}

const here = (name: string): URL => new URL(name, import.meta.url);
const pathOf = (name: string): URL => here(`features/${name}.golden.json`);
const read = <T = Golden>(name: string): T => JSON.parse(readFileSync(pathOf(name), 'utf8')) as T;
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const lookup = ({ sha256 }: BlobRef): Json => `the value ${sha256}`;

function planIn({ definition, workflows }: Pick<Golden, 'definition' | 'workflows'>): Plan {
  const options = { workflows: (id: string) => workflows[id], isAccepted: true };
  const { plan, problems } = compilePlan(definition, createCatalog(testActions), options);
  if (plan === undefined) throw new Error(problems.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return plan;
}

const viewOf = (golden: Journal): RunView => new RunView(planIn(golden), 'exe_test', { planOf: plansIn(golden) });

type Journal = Omit<Golden, 'state' | 'document' | 'timeline'>;

function plansIn({ workflows, definition, versions = [] }: Journal): (version: number) => Plan {
  return (version) => planIn({ workflows, definition: versions[version - 2] ?? definition });
}

function folded(golden: Journal): Omit<Golden, keyof Journal> {
  const view = viewOf(golden);
  for (const frame of golden.frames) view.apply(frame);
  const { state, timeline } = view;
  return {
    state: JSON.parse(encodeSnapshot(state)),
    document: plain(view.document(lookup)),
    timeline: plain(timeline),
  };
}

/** Journals of older versions, of which the golden files keep the document alone. */
const old = (file: string) => JSON.parse(readFileSync(here(file), 'utf8'));
const OLDER: Readonly<Record<string, () => { definition: Feature['definition']; frames: Drive['frames'] }>> = {
  'format-1-every-entry': () => ({ definition: earlier.everyEntryDefinition, ...old('journal-1.golden.json') }),
  'format-1-composite': () => ({ definition: earlier.everyCompositeDefinition, ...old('composite-1.golden.json') }),
  'format-1-repeating': () => ({ definition: earlier.repeatedDefinition, ...old('repeating-1.golden.json') }),
  ...Object.fromEntries(
    Object.entries(oldRuns).map(([name, definition]) => [
      `before-finally-${name}`,
      () => ({ definition, ...old('before-finally.golden.json')[name] }),
    ]),
  ),
  'accepted-stuck': () => ({ definition: stuckRun, ...old('stuck-1.golden.json').stuck }),
  ...Object.fromEntries(
    Object.entries(acceptedRuns).map(([name, definition]) => [
      `accepted-${name}`,
      () => ({ definition, ...old('accepted-1.golden.json')[name] }),
    ]),
  ),
};

function lastPlan(golden: Golden): Plan {
  const { state } = golden as { readonly state: { readonly version?: number } };
  return plansIn(golden)(state.version ?? 1);
}

function made(name: string): Journal {
  const feature = FEATURES[name];
  if (feature === undefined) {
    const { definition, frames } = (OLDER[name] as (typeof OLDER)[string])();
    return plain({ definition: definitionOf('test', definition), workflows: {}, frames });
  }
  const others = Object.entries(feature.options?.workflows ?? {});
  const run = play(feature);
  return plain({
    definition: definitionOf('test', feature.definition),
    workflows: Object.fromEntries(others.map(([id, short]) => [id, definitionOf(id, short)])),
    ...(run.versions.size > 0 && { versions: Array.from(run.versions.values(), (plan) => plan.definition) }),
    frames: run.frames,
  });
}

function record(name: string): void {
  const one = made(name);
  const members = Object.entries({ ...one, ...folded(one) }).map(([key, value]) => `"${key}": ${linesOf(value)}`);
  const text = `{\n${members.join(',\n')}\n}\n`;
  writeFileSync(pathOf(name), text, { flag: 'wx' });
  appendFileSync(here('recorded.sha256'), `${hashOf(text)}  features/${name}.golden.json\n`);
}

/** A line for each frame and event. */
function linesOf(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return `[\n${value.map((one) => JSON.stringify(one)).join(',\n')}\n]`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The time at which a node became ready was shown later by the length of the pauses (RUN-472). */
const PAUSED = ['pause-1'];

function corrected(name: string, document: object): object {
  if (!PAUSED.includes(name)) return document;
  return JSON.parse(JSON.stringify(document), (key, value) => (key === 'queuedAt' ? undefined : value)) as object;
}

const names = [...Object.keys(FEATURES), ...Object.keys(OLDER)];
if (process.env['GOLDEN'] === 'record') for (const name of names) if (!existsSync(pathOf(name))) record(name);
const recorded = readdirSync(here('features')).map((file) => file.replace('.golden.json', ''));

/** Events that leave the status of a run as it is. A run may end while it is paused. */
const UNCHANGED = new Set<string>(['WorkflowStopping', 'SignalKept', 'SignalTaken']);

describe('golden journals, one per feature', () => {
  it('[RUN-71] every feature has one', () => {
    expect(names.filter((name) => !recorded.includes(name))).toEqual([]);
  });

  it.each(recorded)('[RUN-71] %s gives the state, the document and the timeline that it gave', (name) => {
    const golden = read(name);
    const now = folded(golden);
    // Documents and events may have gained members since.
    expect(now.document).toMatchObject(corrected(name, golden.document));
    expect(now.timeline).toMatchObject(golden.timeline);
    // A snapshot of another format is not used, so there is nothing to compare with.
    if (now.state.format !== golden.state.format) return;
    expect(now.state).toEqual(golden.state);
    const loaded = decodeSnapshot(lastPlan(golden), 'exe_test', JSON.stringify(golden.state));
    expect(loaded && plain(documentOf(loaded, lookup))).toEqual(now.document);
  });

  it.each(recorded)('[VIEW-21] %s: the status after an event is that of the state', (name) => {
    const golden = read(name);
    const view = viewOf(golden);
    for (const { at, entries } of golden.frames) {
      for (const entry of entries) {
        view.applyEntry(entry, at);
        for (const event of timelineOf(entry, at)) {
          const node = event.node === null ? undefined : view.node(event.node);
          if (isNodeEvent(event) && node !== undefined)
            expect(nodeStatusAfter(event), event.type).toBe(statusOf(node.phase));
          if (isRunEvent(event) && !UNCHANGED.has(event.type))
            expect(runStatusAfter(event), event.type).toBe(view.state.phase.status);
        }
      }
    }
  });

  it.each(Object.keys(FEATURES).filter((name) => recorded.includes(name)))(
    '[RUN-71] %s is still written like that',
    (name) => {
      const { frames, definition, workflows, versions } = read(name);
      expect(made(name)).toEqual({ frames, definition, workflows, ...(versions && { versions }) });
    },
  );

  it('[RUN-71] no file is changed or removed', () => {
    const lines = readFileSync(here('recorded.sha256'), 'utf8').trim().split('\n');
    const kept = lines.map((line) => {
      const [, file = ''] = line.split('  ');
      return `${existsSync(here(file)) ? hashOf(readFileSync(here(file), 'utf8')) : 'none'}  ${file}`;
    });
    expect(kept).toEqual(lines);
    const files = readdirSync(here('.'), { recursive: true }).map(String);
    expect(kept.map((line) => line.split('  ')[1]).sort()).toEqual(
      files.filter((file) => file.endsWith('.golden.json')).sort(),
    );
  });

  it('[RUN-71] they have every kind of entry and every kind of node', () => {
    const entries = new Set(
      recorded.flatMap((name) => read(name).frames.flatMap((frame) => frame.entries.map(typeOf))),
    );
    expect([...entries].sort()).toEqual(Object.keys(ENTRY_KINDS).sort());
    const kinds = new Set(Object.values(FEATURES).flatMap(({ definition }) => kindsIn(definition)));
    expect(NODE_KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
  });
});

/** The compiler asks for a kind that is missing here. */
const ENTRY_KINDS: Readonly<Record<Entry['type'], true>> = {
  'child.requested': true,
  'items.added': true,
  'node.answered': true,
  'node.cancelled': true,
  'node.compensating': true,
  'node.completed': true,
  'node.configured': true,
  'node.failed': true,
  'node.gated': true,
  'node.granted': true,
  'node.opened': true,
  'node.retrying': true,
  'node.returned': true,
  'node.scheduled': true,
  'node.settled': true,
  'node.skipped': true,
  'node.started': true,
  'node.stopping': true,
  'node.unhandled': true,
  'node.unknown': true,
  'node.waiting': true,
  'round.delayed': true,
  'run.begun': true,
  'run.checkpointed': true,
  'run.finished': true,
  'run.held': true,
  'run.migrated': true,
  'run.paused': true,
  'run.reopened': true,
  'run.resumed': true,
  'run.started': true,
  'run.stopping': true,
  'scope.closed': true,
  'scope.compensated': true,
  'scope.compensating': true,
  'scope.stopping': true,
  'scopes.opened': true,
  'signal.kept': true,
  'signal.refused': true,
  'signal.taken': true,
};

const typeOf = ({ type }: Entry): string => type;

function kindsIn(definition: Feature['definition']): string[] {
  return Object.values(definitionOf('test', definition).nodes ?? {}).flatMap((node) =>
    NODE_KINDS.filter((kind) => kind in node),
  );
}
