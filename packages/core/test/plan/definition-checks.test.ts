import { describe, expect, test } from 'vitest';
import { type Action, announcedAction, definitionChecks, type WorkflowDefinition } from '../../src/index.ts';

/** Checks that count the nodes they compile: a compilation reads the credentials of each action once. */
function counting() {
  const counted = { nodes: 0 };
  const action: Action = {
    id: 'counted',
    version: '1',
    effect: 'pure',
    run: () => null,
    get credentials() {
      counted.nodes++;
      return [];
    },
  };
  return { counted, checks: definitionChecks({ actions: [action] }) };
}

function one(more: object = {}, node: object = {}): WorkflowDefinition {
  return { id: 'one', ...more, nodes: { a: { action: 'counted', ...node } } } as unknown as WorkflowDefinition;
}

const ASKING = { config: { capabilities: { shell: ['id'] } } };

describe('definition checks', () => {
  test('[PLN-34] a definition that was checked is not compiled again', () => {
    const { counted, checks } = counting();
    const first = checks.check(one(), { project: 'p', verify: true });
    expect(checks.isChecked(one(), { project: 'p' })).toBe(true);
    const again = checks.check(one({ version: 3 }), { project: 'p' });
    expect([again.problems, again.plan, counted.nodes]).toEqual([[], first.plan, 1]);
    checks.check(one(), { project: 'q' });
    expect(counted.nodes).toBe(2);
  });

  test('[PLN-34] actions that were announced are known to the next check', () => {
    const { counted, checks } = counting();
    checks.check(one(), {});
    checks.catalog.announce([announcedAction({ id: 'far', version: '1' })]);
    checks.check(one(), {});
    checks.forget();
    checks.check(one(), {});
    expect(counted.nodes).toBe(3);
  });

  test('[PLN-34] a check that may find more than the first one compiles', () => {
    const { counted, checks } = counting();
    checks.check(one(ASKING), {});
    checks.check(one(ASKING), { ceiling: { shell: ['id', 'ls'] } });
    expect(counted.nodes).toBe(1);
    const narrow = checks.check(one(ASKING), { ceiling: {} });
    expect([narrow.problems[0]?.code, counted.nodes]).toEqual(['OVER_CEILING', 2]);
    // The plan of the first check is gone: the newest one had a problem.
    checks.check(one(ASKING), {});
    checks.check(one(ASKING), { verify: true });
    expect(counted.nodes).toBe(4);
  });

  test('[PLN-34] problems are found again, with the position in the text of each check', () => {
    const { counted, checks } = counting();
    const warned = one({}, { credentials: { unused: 'x' } });
    for (const _ of [1, 2]) expect(checks.check(warned, {}).problems[0]?.code).toBe('UNUSED_CREDENTIAL');
    expect(counted.nodes).toBe(2);
  });

  test('[PLN-34] another workflow may have changed between two checks', () => {
    const { checks } = counting();
    const parent = { id: 'parent', nodes: { a: { workflow: { id: 'one', mode: 'child' } } } } as never;
    expect(checks.check(parent, { workflows: () => one() }).problems).toEqual([]);
    expect(checks.check(parent, { workflows: () => undefined }).problems[0]?.code).toBe('UNKNOWN_WORKFLOW');
  });

  test('[PLN-34] the plans of the sixteen newest definitions are kept', () => {
    const { checks } = counting();
    for (let at = 0; at < 17; at++) checks.check(one({ name: `${at}` }), {});
    expect([0, 1, 16].map((at) => checks.isChecked(one({ name: `${at}` }), {}))).toEqual([false, true, true]);
  });
});
