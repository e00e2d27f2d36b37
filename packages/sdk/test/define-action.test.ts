import { type Action, type ActionContext, type Json, NebulaError } from '@nebula/core';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ActionError, credentialFields, defineAction, type InputOf, jsonSchema, type OutputOf } from '../src/index.ts';

const ctx = {} as ActionContext;
const least = { id: 'payment.charge', version: '1', run: () => null };

test('[PLN-86] an action reports the resources that it reaches with given parameters', () => {
  const input = jsonSchema<{ host: string }>({ type: 'object' });
  const reaches = { network: ({ host }: { host: string }) => host };
  const action = defineAction({ ...least, input, capabilities: ['network'], reaches });
  expect(action.reaches?.network?.({ host: 'a.example' })).toBe('a.example');
  expect(() => defineAction({ ...least, reaches } as typeof least)).toThrow(/without declaring it/);
});

describe('credentials', () => {
  test('[SDK-30] an action says which ones it asks for, or nothing', () => {
    expect(defineAction({ ...least, credentials: ['api', 'db'] }).credentials).toEqual(['api', 'db']);
    expect('credentials' in defineAction(least)).toBe(false);
  });

  test('[SDK-30] one of several parts is a JSON object', async () => {
    const values: Record<string, string> = {
      db: '{"user":"ada","port":5432}',
      key: 'sk_live_1',
      list: '["sk_live_1"]',
    };
    const credentials = { credential: async (alias: string) => values[alias] ?? '' };
    expect(await credentialFields(credentials, 'db')).toEqual({ user: 'ada', port: '5432' });
    for (const alias of ['key', 'list']) {
      const error = await credentialFields(credentials, alias).catch((caught: unknown) => caught as Error);
      expect(error).toMatchObject({ code: 'CREDENTIAL_INVALID' });
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('sk_live_1');
    }
  });
});

describe('definitions', () => {
  test('[SDK-1] the least definition is an action that may do nothing, once', () => {
    const action = defineAction(least);
    expect(action).toMatchObject({ id: 'payment.charge', version: '1', effect: 'once', capabilities: [] });
    expect(Object.isFrozen(action)).toBe(true);
    expect('input' in action || 'verify' in action || 'parseInput' in action).toBe(false);
    expectTypeOf(action).toExtend<Action>();
  });

  test('[SDK-1] everything that is defined is there', async () => {
    const action = defineAction({
      ...least,
      version: '2.1',
      title: 'Charge',
      description: 'Charges a card',
      input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      output: { type: 'string' },
      effect: 'idempotent',
      capabilities: ['network'],
      run: (_, { amount }) => `charged ${amount}`,
      verify: () => ({ happened: true, output: 'charged' }),
    });
    expect(action).toMatchObject({ title: 'Charge', description: 'Charges a card', output: { type: 'string' } });
    expect(action).toMatchObject({ effect: 'idempotent', capabilities: ['network'] });
    expect(action.describeOnly).toBeUndefined();
    expect(await action.run(ctx, { amount: 3 })).toBe('charged 3');
    expect(await action.verify?.(ctx, { amount: 3 })).toEqual({ happened: true, output: 'charged' });
  });

  test('[SDK-1] an action has a category, an icon, documentation and examples for a palette', () => {
    const shown = {
      category: 'payments',
      icon: 'credit-card',
      docs: '# Charging',
      examples: [{ title: 'Charge 10 €', with: { amount: 10 } }],
    };
    expect(defineAction({ ...least, ...shown })).toMatchObject(shown);
    expect(Object.keys(defineAction(least))).not.toContain('category');
    for (const wrong of [{ category: 'Two Words' }, { icon: 7 }, { examples: [{ title: 'x' }] }, { docs: [] }]) {
      expect(() => defineAction({ ...least, ...(wrong as object) })).toThrow(/^action payment\.charge: /);
    }
  });

  test('[SDK-1] run may use `this` of its definition', async () => {
    const action = defineAction({
      id: 'my.action',
      version: '1',
      run() {
        return this.id;
      },
    });
    expect(await action.run(ctx, null)).toBe('my.action');
  });

  test.each<[string, object, RegExp, RegExp]>([
    ['no object', null as unknown as object, /needs an object/, /defineAction/],
    ['an id in camel case', { ...least, id: 'payment.chargeCard' }, /chargeCard/, /payment\.charge-card/],
    ['an id of one part', { ...least, id: 'charge' }, /dotted/, /my\.charge/],
    ['an id with a slash', { ...least, id: 'payment/charge' }, /dotted/, /payment\.charge/],
    ['no id', { version: '1', run: least.run }, /must have the key 'id'/, /payment\.charge/],
    ['a version of three parts', { ...least, version: '1.2.3' }, /1\.2\.3/, /major/],
    ['a version as a number', { ...least, version: 1 }, /version.* not 1/, /'1'/],
    ['a version with a v', { ...least, version: 'v1' }, /v1/, /major/],
    ['a misspelt effect', { ...least, effect: 'idempotant' }, /idempotant/, /idempotent/],
    ['an effect that is none', { ...least, effect: 3 }, /pure, idempotent, once .*not 3/, /e\.g\. pure/],
    ['a misspelt capability', { ...least, capabilities: ['netwrok'] }, /netwrok/, /network/],
    ['capabilities with grants', { ...least, capabilities: { network: ['*'] } }, /must be a list/, /\['network'\]/],
    ['a misspelt key', { ...least, capabilites: [] }, /capabilites/, /capabilities/],
    ['a list that cannot be reached', { ...least, reaches: { disk: () => 'x' } }, /disk/, /files\.read|network/],
    ['a reach without a function', { ...least, capabilities: ['shell'], reaches: { shell: 'git' } }, /function/, /=>/],
    ['a reach that is not declared', { ...least, reaches: { 'files.read': () => 'a' } }, /declaring/, /'files'/],
    ['credentials that are no list', { ...least, credentials: { api: 'key' } }, /must be a list/, /\['api'\]/],
    ['an alias that is no id', { ...least, credentials: ['my key'] }, /must be an alias/, /\['api'\]/],
    ['no run', { id: 'a.b', version: '1' }, /no run/, /run\(ctx, input\)/],
    ['a verify that is none', { ...least, verify: true }, /verify/, /verify\(ctx/],
    ['a schema that is none', { ...least, input: 'string' }, /input' must be a schema/, /JSON Schema/],
    ['a title that is no text', { ...least, title: 3 }, /title.* a string/, /quotes/],
  ])('[SDK-2] %s is refused with a hint', (_, definition, message, hint) => {
    const error = thrownBy(() => defineAction(definition as typeof least));
    expect(error).toBeInstanceOf(NebulaError);
    expect(error).toMatchObject({ code: 'ACTION_DEFINITION_INVALID' });
    expect((error as NebulaError).message).toMatch(message);
    expect((error as NebulaError).hint).toMatch(hint);
  });

  test('[SDK-6] an effect function that fails, or says nonsense, means once', () => {
    const input = jsonSchema<{ append: boolean }>({ type: 'object' });
    const decided = defineAction({ ...least, input, effect: ({ append }) => (append ? 'once' : 'pure') });
    const effect = decided.effect as (input: Json) => string;
    expect(effect({ append: false })).toBe('pure');
    expect(effect(null)).toBe('once');
    const nonsense = defineAction({ ...least, effect: () => 'whatever' as 'pure' });
    expect((nonsense.effect as (input: Json) => string)(null)).toBe('once');
  });

  test('[SDK-8] an ActionError is a NebulaError with a kind', () => {
    const error = new ActionError('declined', {
      code: 'CARD_DECLINED',
      kind: 'SYSTEM',
      details: { card: 1 },
      hint: 'h',
    });
    expect(error).toBeInstanceOf(NebulaError);
    expect(error).toMatchObject({
      name: 'ActionError',
      code: 'CARD_DECLINED',
      kind: 'SYSTEM',
      retryable: true,
      hint: 'h',
    });
    expect(new ActionError('x')).toMatchObject({ code: 'ACTION_FAILED', kind: 'USER', message: 'x', retryable: false });
  });
});

describe('Standard Schemas', () => {
  const order = z.object({ amount: z.coerce.number().positive(), at: z.string().transform((text) => new Date(text)) });
  const charge = defineAction({
    ...least,
    input: order,
    output: z.object({ id: z.string(), tags: z.array(z.string()).default([]) }),
    run: (_, { amount, at }) => ({ id: `${amount}@${at.getUTCFullYear()}` }),
  });

  test('[SDK-4] parseInput and parseOutput are the schema itself', async () => {
    const parsed = await charge.parseInput?.({ amount: '12', at: '2026-01-01' });
    expect(parsed).toEqual({ amount: 12, at: new Date('2026-01-01') });
    const raw = await charge.run(ctx, parsed as Json);
    expect(await charge.parseOutput?.(raw)).toEqual({ id: '12@2026', tags: [] });
  });

  test('[SDK-4] a mismatch is reported with its path', async () => {
    const refused = thrownBy(() => charge.parseInput?.({ amount: -1, at: 3 }));
    expect(refused).toMatchObject({ name: 'ActionError', code: 'INPUT_INVALID', kind: 'USER' });
    expect(refused).toMatchObject({ details: { problems: [{ path: 'amount' }, { path: 'at' }] } });
    expect((refused as Error).message).toContain('payment.charge@1');
    expect(thrownBy(() => charge.parseOutput?.({}))).toMatchObject({ code: 'OUTPUT_INVALID' });
    const nested = defineAction({ ...least, input: z.object({ list: z.array(z.object({ n: z.number() })) }) });
    expect(thrownBy(() => nested.parseInput?.({ list: [{ n: 1 }, {}] }))).toMatchObject({
      details: { problems: [{ path: 'list[1].n' }] },
    });
  });

  test('[SDK-4] a schema may be asynchronous', async () => {
    const taken = z.string().refine(async (name) => name !== 'taken', 'is taken');
    const action = defineAction({ ...least, input: taken });
    await expect(action.parseInput?.('free')).resolves.toBe('free');
    await expect(action.parseInput?.('taken')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  test('[SDK-5] the JSON Schema is derived, and only describes', () => {
    expect(charge.input).toMatchObject({
      type: 'object',
      properties: { amount: { type: 'number' }, at: { type: 'string' } },
    });
    expect(charge.output).toMatchObject({ required: ['id', 'tags'] });
    expect(charge.describeOnly).toEqual(['input', 'output']);
    expect(charge.input).toBe(charge.input);
    expect(JSON.parse(JSON.stringify(charge.input))).toEqual(charge.input);
  });

  test('[SDK-5] one member without a JSON form leaves only itself open', () => {
    const action = defineAction({ ...least, input: z.object({ when: z.date(), name: z.string() }) });
    expect(action.input).toMatchObject({ properties: { name: { type: 'string' } } });
  });

  test('[SDK-5] a library without JSON Schema still validates', () => {
    const even = {
      '~standard': {
        version: 1,
        vendor: 'tiny',
        validate: (value: unknown) =>
          typeof value === 'number' && value % 2 === 0 ? { value } : { issues: [{ message: 'is odd', path: [] }] },
      },
    } as const;
    const action = defineAction({ ...least, input: even });
    expect(action.input).toBeUndefined();
    expect(action.parseInput?.(4)).toBe(4);
    expect(thrownBy(() => action.parseInput?.(3))).toMatchObject({ code: 'INPUT_INVALID' });
  });
});

describe('types', () => {
  test('[SDK-3] a literal JSON Schema types run, its result and the effect', () => {
    const action = defineAction({
      ...least,
      input: {
        type: 'object',
        properties: {
          url: { type: 'string' },
          method: { enum: ['GET', 'POST'], default: 'GET' },
          retries: { type: 'integer' },
          tags: { type: 'array', items: { type: 'string' } },
          size: { type: ['string', 'integer', 'null'] },
          query: { type: 'object', additionalProperties: { type: 'number' } },
          either: { anyOf: [{ type: 'boolean' }, { const: 'auto' }] },
          nested: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
          anything: {},
        },
        required: ['url', 'tags'],
      },
      output: { type: 'object', properties: { status: { type: 'integer' } }, required: ['status'] },
      effect(input) {
        expectTypeOf(input.method).toEqualTypeOf<'GET' | 'POST' | undefined>();
        return 'pure';
      },
      run(_, input) {
        expectTypeOf(input).toEqualTypeOf<{
          readonly url: string;
          readonly method: 'GET' | 'POST';
          readonly retries?: number;
          readonly tags: readonly string[];
          readonly size?: string | number | null;
          readonly query?: { readonly [key: string]: number };
          readonly either?: boolean | 'auto';
          readonly nested?: { readonly deep: boolean };
          readonly anything?: Json;
        }>();
        return { status: 200 };
      },
    });
    expectTypeOf<OutputOf<typeof action>>().toEqualTypeOf<{ readonly status: number }>();
    expectTypeOf<InputOf<typeof action>['method']>().toEqualTypeOf<'GET' | 'POST' | undefined>();
  });

  test('[SDK-3] jsonSchema says the type where the compiler cannot read it', () => {
    interface Order {
      id: string;
    }
    const action = defineAction({
      ...least,
      input: jsonSchema<Order>({ $ref: '#/$defs/order' }),
      run(_, input) {
        expectTypeOf(input).toEqualTypeOf<Order>();
        return input.id;
      },
    });
    expectTypeOf<InputOf<typeof action>>().toEqualTypeOf<Order>();
  });

  test('[SDK-3] without a schema the input is any JSON', () => {
    defineAction({
      ...least,
      run(_, input) {
        expectTypeOf(input).toEqualTypeOf<Json>();
        return null;
      },
    });
  });

  test('[SDK-4] a Standard Schema types run by its output and the workflow by its input', () => {
    const action = defineAction({
      ...least,
      input: z.object({ at: z.string().transform((text) => new Date(text)), size: z.number().default(1) }),
      output: z.object({ total: z.number(), note: z.string().default('') }),
      run(_, input) {
        expectTypeOf(input).toEqualTypeOf<{ at: Date; size: number }>();
        return { total: input.size };
      },
    });
    expectTypeOf<InputOf<typeof action>>().toEqualTypeOf<{ at: string; size?: number | undefined }>();
    expectTypeOf<OutputOf<typeof action>>().toEqualTypeOf<{ total: number; note: string }>();
  });

  test('[SDK-7] without an output schema the type is that of the value run returns', () => {
    const action = defineAction({ ...least, run: async () => ({ id: 'x', count: 3 }) });
    expectTypeOf<OutputOf<typeof action>>().toEqualTypeOf<{ id: string; count: number }>();
    expectTypeOf<InputOf<typeof action>>().toEqualTypeOf<Json>();
  });

  /** Only compiled, never called: each comment below fails the type check when the mistake becomes possible. */
  const mistakes = () => {
    const text = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
    // @ts-expect-error: the member does not exist
    defineAction({ ...least, input: text, run: (_, input) => input.nam });
    // @ts-expect-error: text is not a number
    defineAction({ ...least, input: text, run: (_, input) => Math.abs(input.name) });
    // @ts-expect-error: a number is returned where the schema says text
    defineAction({ ...least, output: { type: 'string' }, run: () => 3 });
    // @ts-expect-error: a member is missing in what is returned
    defineAction({ ...least, output: text, run: async () => ({ nam: 'x' }) });
    // @ts-expect-error: zod says number
    defineAction({ ...least, output: z.object({ n: z.number() }), run: () => ({ n: 'x' }) });
    // @ts-expect-error: a misspelt effect
    defineAction({ ...least, effect: 'idempotant' });
    // @ts-expect-error: a misspelt capability
    defineAction({ ...least, capabilities: ['netwrok'] });
    // @ts-expect-error: a misspelt key
    defineAction({ id: 'a.b', version: '1', run: () => null, capabilites: [] });
    // @ts-expect-error: no run
    defineAction({ id: 'a.b', version: '1' });
    const verify = () => ({ happened: true as const, output: 3 });
    // @ts-expect-error: verify tells an output of another type
    defineAction({ ...least, output: { type: 'string' }, run: () => 'x', verify });
  };

  test('[SDK-3] mistakes do not compile', () => {
    expect(mistakes).toBeTypeOf('function');
  });
});

function thrownBy(body: () => unknown): unknown {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
