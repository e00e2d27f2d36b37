/** Test runs with the real engine, in memory. */
import { readdirSync, readFileSync } from 'node:fs';
import {
  type Action,
  compilePlan,
  createCatalog,
  definitionPaths,
  type Plan,
  readDefinition,
  testPlanOf,
  withTest,
} from '@nebula/core';
import {
  decide,
  inlineValue,
  newRunState,
  newTurn,
  nextReady,
  openAttempts,
  type Stimulus,
  seal,
  startAttempt,
} from '@nebula/core/run';
import { describe, expect, it } from 'vitest';
import { actionsUsed } from '../src/actions-used.ts';
import { everyCrashPoint, testWorkflow } from '../src/index.ts';

const DEFINITION = {
  id: 'order',
  variables: { total: 0 },
  nodes: {
    fetch: { action: 'shop.fetch@1' },
    sum: { needs: ['fetch'], set: { total: '{{ $fetch.total }}' } },
    charge: { needs: ['sum'], action: 'bank.charge@1', with: { amount: '{{ $vars.total }}' } },
    ask: { needs: ['charge'], wait: { approval: { title: 'Sure?' } } },
    ship: { needs: ['ask'], action: 'ship.send@1', with: { id: '{{ $charge.id }}' } },
    tell: { needs: ['ship'], action: 'mail.send@1' },
  },
  output: '{{ $tell }}',
};

/** Nodes that are pinned or take no part. */
const UNUSED = { 'shop.fetch': null, 'mail.send': null };

describe('test runs', () => {
  it('[TST-60] run a part, with pinned results', async () => {
    const pins = { fetch: { output: { total: 5 } }, ask: { output: { event: 'approval', payload: {} } } };
    const run = await testWorkflow(DEFINITION, {
      mocks: {
        ...UNUSED,
        'bank.charge': (input) => ({ id: `c${(input as { amount: number }).amount}` }),
        'ship.send': (input) => input,
      },
      test: { until: 'ship', pins },
    });
    expect([run.status, run.output, run.path]).toEqual([
      'completed',
      { id: 'c5' },
      ['fetch', 'sum', 'charge', 'ask', 'ship'],
    ]);
    expect(run.skipped).toEqual(['tell']);
    expect(run.calls('shop.fetch')).toEqual([]);
  });

  it('[TST-60] survive a crash at every append', async () => {
    const report = await everyCrashPoint(DEFINITION, {
      mocks: { ...UNUSED, 'bank.charge': { id: 'c' }, 'ship.send': { sent: true } },
      test: { until: 'ship', pins: { fetch: { output: { total: 5 } } } },
      steps: (run) => run.approve('ask'),
    });
    expect(report.crashes).toBeGreaterThan(6);
  });
});

/** Files of the examples, each with the actions that it names. */
const FOLDERS = ['../../../examples/', '../../../examples/patterns/'].map((name) => new URL(name, import.meta.url));
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
    .map((name) => new URL(name, folder)),
);

describe('the examples', () => {
  const definitions = FILES.map(
    (file) => readDefinition(readFileSync(file), { file: file.pathname }).definition,
  ).filter((definition) => definition !== undefined);
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  const actions = new Map<string, Action>();
  for (const { id, version = '1' } of definitions.flatMap(actionsUsed)) {
    actions.set(`${id}@${version}`, { id, version, effect: 'idempotent', run: () => null });
  }
  const catalog = createCatalog([...actions.values()]);

  it.each(definitions.map((definition) => [definition.id, definition] as const))(
    '[TST-61] %s runs until each of its nodes',
    (_, definition) => {
      // Without a schema any input will do: expressions that miss a member fail their nodes, which is an end, too.
      const { input: _input, ...open } = definition;
      const { plan, problems } = compilePlan(open, catalog, { workflows: (id) => byId.get(id) });
      if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
      const paths = definitionPaths(plan).filter((path) => path !== definition.config?.failureNode);
      expect(paths.length).toBeGreaterThan(0);
      for (const until of paths) {
        const made = testPlanOf(plan, { until });
        if (!('test' in made)) throw new Error(`${until}: ${made.problems[0]?.message}`);
        const ids = made.test.parts.get('')?.ids;
        const ran = ranIn(withTest(plan, made.test));
        expect(
          ran.filter((path) => ids?.has(path.split('/')[0] ?? '') === false),
          until,
        ).toEqual([]);
      }
    },
  );
});

const MAX_STEPS = 100;

/** Drives a run, in which every attempt succeeds, for a while. Returns the paths of the nodes that ran or completed. */
function ranIn(plan: Plan): string[] {
  const state = newRunState(plan, 'exe_test');
  const ran: string[] = [];
  let stimuli: Stimulus[] = [{ type: 'start', input: {}, trigger: { type: 'test' } }];
  for (let step = 0; step < MAX_STEPS && stimuli.length > 0; step++) {
    const turn = newTurn(
      state,
      step,
      () => null,
      () => 'exe_child',
    );
    for (const stimulus of stimuli) decide(turn, stimulus);
    for (const { node, attempt } of nextReady(state, 100)) startAttempt(turn, node, attempt, 'wrk_test');
    seal(turn);
    state.seq++;
    for (const entry of turn.entries) {
      if (entry.type === 'node.started' || entry.type === 'node.completed') ran.push(entry.node);
    }
    const outcome = { status: 'completed', output: inlineValue({}) } as const;
    stimuli = openAttempts(state).map(({ node, attempt }) => ({ type: 'ended', node, attempt, outcome, jitter: 1 }));
  }
  return ran.filter((path) => !path.startsWith('~'));
}
