import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action, Json, WorkflowDefinition } from '../../src/index.ts';
import { Dice, liveThrough, randomFlow } from '../run/composite/random-composite.ts';
import { drive, planOf, type Short, testActions } from '../run/drive.ts';
import { RandomDrive } from '../run/random-drive.ts';
import { definitionOf, happenings, randomWorkflow } from '../run/random-workflow.ts';
import { joinsIn, neverAfter, neverRuns, ran, verified } from './never.ts';
import { live, randomGraph, randomInput } from './random-graphs.ts';

const FIRST = Number(process.env.FUZZ_FROM ?? 1);
const RUNS = Number(process.env.FUZZ_RUNS ?? 200);

const actions: readonly Action[] = [
  ...testActions,
  { id: 'check', version: '1', effect: 'once', run: (): Json => null, verify: () => ({ happened: 'unknown' }) },
];

describe('nodes reported as never running', { timeout: 600_000 }, () => {
  it('[VER-1] never run, whatever happens to a graph', () => {
    const habits = fc.record({ slots: fc.constantFrom(1, 2, 100), isLazy: fc.boolean() });
    let reported = 0;
    fc.assert(
      fc.property(randomWorkflow, happenings, habits, (workflow, list, how) => {
        const definition = { id: 'test', ...definitionOf(workflow) } as unknown as WorkflowDefinition;
        const never = neverRuns(verified(definition, actions));
        reported += never.size;
        const run = new RandomDrive(workflow, how);
        for (const happening of list) run.happen(happening);
        run.drain();
        const both = [...ran(run.entries)].filter((path) => never.has(path));
        expect(both).toEqual([]);
      }),
      { numRuns: RUNS, ...(process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) }) },
    );
    expect(reported).toBeGreaterThan(0);
  });

  it('[VER-1] [VER-63] [VER-64] never run, nor after the named failure, whatever ways exclude each other', () => {
    const reported = { runs: 0, joins: 0, after: 0 };
    let failed = 0;
    for (let seed = FIRST; seed < FIRST + 3 * RUNS; seed++) {
      const dice = new Dice(seed);
      const flow = randomGraph(dice);
      const problems = verified(planOf(flow).definition, actions);
      const never = neverRuns(problems);
      const pairs = neverAfter(problems);
      reported.runs += never.size;
      reported.joins += joinsIn(problems);
      reported.after += pairs.length;
      for (let life = 0; life < 3; life++) {
        const run = drive(flow, { input: randomInput(dice), foldEvery: 100 });
        live(run, dice);
        const began = ran(run.entries);
        const both = [...began].filter((path) => never.has(path));
        expect(both, `seed ${seed} ${JSON.stringify(flow)}`).toEqual([]);
        for (const { node, after } of pairs) {
          if (run.statuses()[after] !== 'failed') continue;
          failed++;
          const handling = run.entries.find((entry) => entry.type === 'node.failed' && entry.node === after);
          const isIgnored = handling?.type === 'node.failed' && handling.handling === 'ignored';
          expect(began.has(node) && !isIgnored, `seed ${seed} ${node} ${JSON.stringify(flow)}`).toBe(false);
        }
      }
    }
    expect(reported.runs).toBeGreaterThan(RUNS);
    expect(reported.joins).toBeGreaterThan(RUNS / 10);
    expect(reported.after).toBeGreaterThan(RUNS / 10);
    expect(failed).toBeGreaterThan(RUNS / 20);
  });

  it('[VER-1] never run, whatever happens to composite nodes', () => {
    let reported = 0;
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      const { flow, workflows } = randomFlow(new Dice(seed));
      const { definition } = planOf(flow, {}, workflows);
      const never = neverRuns(verified(definition, actions, (id) => definitionNamed(id, workflows[id])));
      reported += never.size;
      const both = [...ran(liveThrough(seed).entries)].filter((path) => never.has(path));
      expect(both, `seed ${seed}`).toEqual([]);
    }
    expect(reported).toBeGreaterThan(0);
  });
});

function definitionNamed(id: string, short: Short | undefined): WorkflowDefinition | undefined {
  return short && { ...planOf(short).definition, id };
}
