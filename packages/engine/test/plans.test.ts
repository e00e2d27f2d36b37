import {
  type Action,
  announcedAction,
  createCatalog,
  DefinitionChecks,
  type OpenCatalog,
  type WorkflowDefinition,
} from '@nebula/core';
import { memoryStore } from '@nebula/drivers/memory';
import { realClock, sha256 } from '@nebula/drivers/real';
import { expect, it } from 'vitest';
import { Authority } from '../src/start/authority.ts';
import { Plans } from '../src/start/plans.ts';

const noop: Action = { id: 'noop', version: '1', effect: 'pure', run: () => null };
const definition = { id: 'small', nodes: { a: { action: 'noop@1' } } } as unknown as WorkflowDefinition;
const asked = { project: 'default', ceiling: 'all' } as const;

/** Plans on a catalogue that counts how often an action is looked up: a compilation does so once for each node. */
function countedPlans() {
  const catalog = createCatalog([noop]);
  const counted = { catalog, lookups: 0 };
  const counting = new Proxy(catalog, {
    get(target, key) {
      if (key !== 'within') return Reflect.get(target, key);
      return (...project: Parameters<OpenCatalog['within']>) => {
        const within = target.within(...project);
        return {
          ...within,
          action: (reference: string) => {
            counted.lookups++;
            return within.action(reference);
          },
        };
      };
    },
  });
  const authority = new Authority({ projectOf: async () => 'default', ceilingOf: async () => 'all' });
  const checks = new DefinitionChecks(counting);
  const plans = new Plans({ store: memoryStore(), clock: realClock, digest: sha256 }, checks, authority);
  return Object.assign(counted, { plans, checks });
}

it('[ENG-242] a definition that was checked is not compiled again for its first run', async () => {
  const counted = countedPlans();
  expect(counted.checks.check(definition, asked).problems).toEqual([]);
  const { lookups } = counted;
  expect(lookups).toBeGreaterThan(0);
  const { version } = await counted.plans.register({ ...definition, version: 7 });
  const plan = await counted.plans.get('small', version);
  expect(counted.lookups).toBe(lookups);
  expect(plan).toMatchObject({ workflowId: 'small', version: 7, definition: { version: 7 } });
});

it('[ENG-242] other content, and actions that were announced meanwhile, are compiled', async () => {
  const counted = countedPlans();
  counted.checks.check(definition, asked);
  const other = { ...definition, nodes: { b: { action: 'noop@1' } } } as unknown as WorkflowDefinition;
  await counted.plans.register(other);
  expect((await counted.plans.get('small')).root.nodes).toMatchObject([{ id: 'b' }]);
  await counted.plans.register(definition);
  counted.catalog.announce([announcedAction({ id: 'far', version: '1' })]);
  counted.plans.forget();
  const { lookups } = counted;
  await counted.plans.get('small');
  expect(counted.lookups).toBeGreaterThan(lookups);
});
