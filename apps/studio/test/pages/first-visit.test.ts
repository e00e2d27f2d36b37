import { describe, expect, it } from 'vitest';
import { type TourFacts, tourStep } from '../../src/app/tour/tour-steps.ts';
import { sampleInput } from '../../src/pages/runs/sample-input.ts';
import { ceilingText } from '../../src/pages/settings/ceiling-text.ts';

describe('the tour', () => {
  const facts: TourFacts = {
    hasRun: false,
    runStatus: undefined,
    nodeStatus: undefined,
    hasFound: false,
    hasReadWhy: false,
    hasReplayed: false,
  };

  it('[STU-56] goes on with the run, and waits for it', () => {
    expect(tourStep(facts)).toEqual({ step: 'break', isWorking: false });
    const started = { ...facts, hasRun: true };
    expect(tourStep(started)).toEqual({ step: 'find', isWorking: true });
    expect(tourStep({ ...started, runStatus: 'running', nodeStatus: 'running' })).toEqual({
      step: 'find',
      isWorking: true,
    });
    const failed = { ...started, runStatus: 'completed', nodeStatus: 'failed' };
    expect(tourStep(failed)).toEqual({ step: 'find', isWorking: false });
    const found = { ...failed, hasFound: true };
    expect(tourStep(found)).toEqual({ step: 'why', isWorking: false });
    const read = { ...found, hasReadWhy: true };
    expect(tourStep(read)).toEqual({ step: 'mend', isWorking: false });
    expect(tourStep({ ...read, runStatus: 'running' })).toEqual({ step: 'mend', isWorking: true });
    const replayed = { ...read, hasReplayed: true };
    expect(tourStep({ ...replayed, nodeStatus: 'running' })).toEqual({ step: 'mend', isWorking: true });
    expect(tourStep({ ...replayed, nodeStatus: 'completed' })).toEqual({ step: 'done', isWorking: false });
  });
});

describe('the input of a first run', () => {
  it('[STU-57] has what the schema proposes and requires, and no more', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'world' },
        kind: { enum: ['a', 'b'] },
        amount: { type: 'number', minimum: 5 },
        count: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
        note: { type: 'string' },
        address: {
          type: 'object',
          properties: { city: { type: 'string', examples: ['Ulm'] }, zip: { type: 'string' } },
          required: ['city'],
        },
        isNew: { type: 'boolean' },
      },
      required: ['kind', 'amount', 'count', 'tags', 'address', 'isNew'],
    };
    expect(sampleInput(schema)).toEqual({
      name: 'world',
      kind: 'a',
      amount: 5,
      count: 1,
      tags: ['example'],
      address: { city: 'Ulm' },
      isNew: false,
    });
  });

  it('[STU-57] is nothing for a workflow without a schema, and ends for a schema that holds itself', () => {
    expect(sampleInput(undefined)).toBeUndefined();
    const own: Record<string, unknown> = { type: 'object', required: ['next'] };
    own['properties'] = { next: own };
    expect(JSON.stringify(sampleInput(own))).toContain('"next":null');
  });
});

describe('the ceiling of a project', () => {
  it('[STU-53] is one line', () => {
    expect(ceilingText('all')).toBeNull();
    expect(ceilingText({})).toBe('');
    expect(
      ceilingText({
        network: ['api.example.com'],
        files: { read: ['in/**'], write: ['out/**'] },
        shell: ['git'],
        env: ['HOME'],
      }),
    ).toBe('network api.example.com · read in/** · write out/** · shell git · env HOME');
  });
});
