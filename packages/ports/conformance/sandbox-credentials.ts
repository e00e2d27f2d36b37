/** Credentials in the contract of the port `sandbox`: which attempts get them, and where they never appear. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { Action, ActionContext, Json, Verification } from '@nebula/core';
import type { Invocation, InvocationOutcome } from '@nebula/ports';
import { describe, expect, test } from 'vitest';

export interface CredentialTools {
  /** Runs the action, and returns the outcome with everything that it logged and reported. */
  readonly outcomeOf: (
    run: (ctx: ActionContext) => unknown,
    action?: Partial<Action>,
    rest?: Partial<Invocation>,
  ) => Promise<{ readonly outcome: InvocationOutcome; readonly said: readonly unknown[] }>;
  readonly verify: (action: Partial<Action>, rest?: Partial<Invocation>) => Promise<Verification>;
}

const PASSWORD = 'Tr0ub4dor&3/horse"é';
const PEM = `-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAoIBAQC7\n-----END KEY-----\n`;
const ACCOUNT = JSON.stringify({ user: 'service-user', keys: [{ token: 'tok/en+value=1' }], port: 5432 });
const PIN = '48151623';
const VALUES: Readonly<Record<string, string>> = { password: PASSWORD, pem: PEM, account: ACCOUNT, pin: PIN };
const credential = async (alias: string): Promise<string> => VALUES[alias] ?? Promise.reject(new Error('no such'));

/** Texts that must not appear, including their forms in JSON. */
const TRACES = [
  PASSWORD,
  JSON.stringify(PASSWORD).slice(1, -1),
  encodeURIComponent(PASSWORD),
  encodeURIComponent(PASSWORD).toLowerCase(),
  Buffer.from(PASSWORD).toString('base64'),
  Buffer.from(PASSWORD).toString('base64url'),
  Buffer.from(PASSWORD).toString('hex'),
  'Tr0ub4dor',
  'MIIEvQIBADANBgkqhkiG9w0BAQ',
  'EFAASCBKcwggSjAgEAAoIBAQC7',
  'tok/en+value=1',
  'service-user',
  PIN,
];

function expectClean(...things: readonly unknown[]): void {
  const text = JSON.stringify(things);
  for (const trace of TRACES) expect(text).not.toContain(trace);
  expect(text).toContain('[redacted]');
}

/** Breaks a text into lines, as programs do with long encodings. */
function folded(text: string, gap: string): string {
  return text.replace(/.{8}(?=.)/g, (part) => part + gap);
}

export function credentialRules({ outcomeOf, verify }: CredentialTools): void {
  describe('credentials', () => {
    handingOut({ outcomeOf, verify });
    takingOut({ outcomeOf, verify });
    forms({ outcomeOf, verify });
    otherWays({ outcomeOf, verify });
  });
}

function handingOut({ outcomeOf }: CredentialTools): void {
  test('[SBX-31] an alias gives the value of the invocation, or its error', async () => {
    const seen: string[] = [];
    const { outcome } = await outcomeOf(async (ctx) => {
      seen.push(await ctx.credential('password'));
      await ctx.credential('unknown');
    });
    expect(seen).toEqual([PASSWORD]);
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'no such' } });
  });

  test('[SBX-31] an action that declares its credentials gets no others', async () => {
    const ask = (alias: string) =>
      outcomeOf(async (ctx) => (await ctx.credential(alias)).length, { credentials: ['pin'] });
    expect((await ask('pin')).outcome).toEqual({ status: 'completed', output: PIN.length });
    expect((await ask('password')).outcome).toMatchObject({ error: { code: 'CREDENTIAL_NOT_DECLARED' } });
  });
}

function takingOut({ outcomeOf, verify }: CredentialTools): void {
  test('[SBX-32] not in the output: texts, keys, numbers, at any depth', async () => {
    const { outcome } = await outcomeOf(async (ctx) => {
      const password = await ctx.credential('password');
      const pin = await ctx.credential('pin');
      const nested = {
        list: [{ [password]: 1, [`${password}!`]: 2 }, `a ${password} b ${password}`],
        pin: Number(pin),
      };
      return { password, nested, deep: [[[JSON.stringify({ body: password })]]], kept: 'Tr0', n: 7 };
    });
    expectClean(outcome);
    expect(outcome).toMatchObject({
      output: {
        password: '[redacted]',
        nested: { list: [{ '[redacted]': 1, '[redacted]!': 2 }, 'a [redacted] b [redacted]'], pin: '[redacted]' },
        kept: 'Tr0',
        n: 7,
      },
    });
  });

  test('[SBX-32] two keys that become the same stay two', async () => {
    const { outcome } = await outcomeOf(async (ctx) => {
      const password = await ctx.credential('password');
      return { [password]: 1, [encodeURIComponent(password)]: 2 };
    });
    expect(outcome).toMatchObject({ output: { '[redacted]': 1, '[redacted] 2': 2 } });
  });

  test('[SBX-32] not in the error, its stack or its cause', async () => {
    const { outcome, said } = await outcomeOf(async (ctx) => {
      const password = await ctx.credential('password');
      const cause = new Error(`login as root:${password} refused`);
      throw Object.assign(new Error(`cannot connect with ${password}`, { cause }), {
        name: 'ActionError',
        code: `BAD_${password}`,
        details: { url: `https://root:${encodeURIComponent(password)}@host/`, [password]: { tried: [password] } },
      });
    });
    expectClean(outcome);
    expectClean(said);
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'cannot connect with [redacted]' } });
  });

  test('[SBX-32] not in anything else that is thrown', async () => {
    for (const wrap of [(text: string) => text, (text: string) => ({ text }), (text: string) => ({ message: text })]) {
      const { outcome } = await outcomeOf(async (ctx) => {
        throw wrap(await ctx.credential('password'));
      });
      expectClean(outcome);
    }
  });

  test('[SBX-32] not in logs, their fields, progress, or an unawaited promise', async () => {
    const { said } = await outcomeOf(async (ctx) => {
      const password = await ctx.credential('password');
      ctx.log.info(`logging in with ${password}`, { password, headers: { authorization: `Bearer ${password}` } });
      ctx.log.warn(password, { [password]: [password] });
      ctx.progress(0.5, `sent ${password}`);
      void Promise.reject(new Error(`stray ${password}`));
      await new Promise((resolve) => setTimeout(resolve, 5));
      return null;
    });
    expectClean(said);
    expect(JSON.stringify(said)).toContain('stray [redacted]');
    expect(JSON.stringify(said)).toContain('sent [redacted]');
  });

  test('[SBX-32] not in the error of an attempt that was aborted', async () => {
    const controller = new AbortController();
    const { outcome } = await outcomeOf(
      async (ctx) => {
        const password = await ctx.credential('password');
        controller.abort(new Error('enough'));
        throw new Error(`stopped while ${password} was used`);
      },
      {},
      { signal: controller.signal },
    );
    expect(outcome.status).toBe('aborted');
    expectClean(outcome);
  });

  test('[SBX-32] not in the result of verify', async () => {
    const verification = await verify({
      verify: async (ctx) => ({ happened: true, output: { used: await ctx.credential('password') } }),
    });
    expect(verification).toEqual({ happened: true, output: { used: '[redacted]' } });
  });

  test('[SBX-35] an output without it is passed on unchanged', async () => {
    const output: Json = { list: [1, 'x', { a: null }], flag: true };
    const { outcome } = await outcomeOf(async (ctx) => {
      await ctx.credential('password');
      return output;
    });
    expect(outcome.status === 'completed' && outcome.output).toEqual(output);
  });
}

function forms({ outcomeOf }: CredentialTools): void {
  const encodings: readonly (readonly [string, (text: string) => string])[] = [
    ['base64', (text) => Buffer.from(text).toString('base64')],
    ['base64 without padding', (text) => Buffer.from(text).toString('base64').replace(/=+$/, '')],
    ['base64url', (text) => Buffer.from(text).toString('base64url')],
    ['base64 within a longer text', (text) => Buffer.from(`user:${text}:more`).toString('base64')],
    ['base64 within one that is shifted', (text) => Buffer.from(`u:${text}`).toString('base64')],
    ['base64 within one that is shifted twice', (text) => Buffer.from(`:${text}`).toString('base64')],
    ['a part of a URL', encodeURIComponent],
    [
      'a part of a URL in small letters',
      (text) => encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
    ],
    ['a form', (text) => new URLSearchParams({ password: text }).toString()],
    ['a URL', (text) => String(new URL(`https://host/?q=${encodeURIComponent(text)}`))],
    ['JSON', (text) => JSON.stringify({ text })],
    ['JSON in JSON', (text) => JSON.stringify({ body: JSON.stringify({ text }) })],
    [
      'JSON in ASCII',
      (text) => JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    ],
    ['hexadecimal digits', (text) => Buffer.from(text).toString('hex')],
    ['capital hexadecimal digits', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ];

  test.each(encodings)('[SBX-33] as %s', async (_, encode) => {
    const { outcome, said } = await outcomeOf(async (ctx) => {
      const values = [await ctx.credential('password'), await ctx.credential('pin')];
      for (const value of values) ctx.log.info(encode(value));
      return values.map(encode);
    });
    const { output } = outcome as { readonly output: readonly string[] };
    for (const text of [...output, ...said.map(String)]) expect(text).toContain('[redacted]');
    // The remainder of base64 at the edges of a longer text contains no whole character.
    for (const [at, value] of [PASSWORD, PIN].entries()) {
      const decoded = Buffer.from(String(output[at]).replace('[redacted]', ' '), 'base64').toString();
      expect(`${output[at]} ${decoded}`).not.toContain(value.slice(1, -1));
    }
    expectClean(outcome, said);
  });

  const shown: readonly (readonly [string, (text: string) => string])[] = [
    ['inspected', (text) => inspect({ text })],
    ['inspected beside both kinds of quotes', (text) => inspect({ text: `'"${text}` })],
    ['base64 over lines', (text) => folded(Buffer.from(`user:${text}`).toString('base64'), '\n')],
    ['base64 over indented lines', (text) => folded(Buffer.from(text).toString('base64'), '\r\n    ')],
    ['hexadecimal digits over lines', (text) => folded(Buffer.from(text).toString('hex'), '\n')],
  ];

  test.each(shown)('[SBX-43] %s', async (_, show) => {
    const { outcome, said } = await outcomeOf(async (ctx) => {
      const text = `it's "${await ctx.credential('password')}"`;
      ctx.log.info(show(text));
      return show(text);
    });
    const everything = JSON.stringify([outcome, said]);
    expect(everything).toContain('[redacted]');
    for (const trace of ['Tr0ub4dor', 'VHIwdWI0', '5472307562'])
      expect(everything.replaceAll(/\\[rn]|\s/g, '')).not.toContain(trace);
  });

  test('[SBX-33] values that overlap, or follow each other, leave nothing of each other', async () => {
    const credential = async (alias: string) => (alias === 'a' ? 'first-part-shared' : 'shared-last-part');
    const { outcome } = await outcomeOf(
      async (ctx) => {
        const [a, b] = [await ctx.credential('a'), await ctx.credential('b')];
        return ['x first-part-shared-last-part y', `${a}${b}`, `${a} ${b}`];
      },
      {},
      { credential },
    );
    expect(outcome).toEqual({ status: 'completed', output: ['x [redacted] y', '[redacted]', '[redacted] [redacted]'] });
  });

  test('[SBX-33] the lines of a value that has several, and the texts of one that is JSON', async () => {
    const { outcome, said } = await outcomeOf(async (ctx) => {
      const pem = await ctx.credential('pem');
      const account = JSON.parse(await ctx.credential('account')) as {
        user: string;
        keys: [{ token: string }];
        port: number;
      };
      for (const line of pem.split('\n')) ctx.log.info(`key: ${line}`);
      const basic = Buffer.from(`${account.user}:${account.keys[0].token}`).toString('base64');
      return {
        pem,
        user: account.user,
        basic,
        query: `?t=${encodeURIComponent(account.keys[0].token)}`,
        port: account.port,
      };
    });
    expectClean(outcome, said);
    expect(outcome).toMatchObject({ output: { user: '[redacted]', query: '?t=[redacted]', port: 5432 } });
  });

  test('[SBX-34] nothing of it is left where something is cut', async () => {
    for (let before = 16_370; before < 16_384; before++) {
      const { said } = await outcomeOf(async (ctx) => {
        ctx.log.info('.'.repeat(before) + (await ctx.credential('password')));
      });
      expect(JSON.stringify(said)).not.toContain('Tr0ub4');
    }
    const { outcome } = await outcomeOf(async (ctx) => {
      const password = await ctx.credential('password');
      const details = {
        body: `${'.'.repeat(16_365)}${password}`,
        excerpt: password.slice(0, 9),
        end: password.slice(-9),
      };
      throw Object.assign(new Error('.'.repeat(3_990) + password), { name: 'ActionError', code: 'X', details });
    });
    expect(JSON.stringify(outcome)).not.toContain('Tr0ub4');
    expect(JSON.stringify(outcome)).not.toContain('horse');
  });

  test('[SBX-34] nor in output of a program beyond its limit', async () => {
    const { outcome } = await outcomeOf(
      async (ctx) => {
        const password = await ctx.credential('password');
        const { stdout } = await ctx.shell('printf', ['%s', `output ${password}`], { maxOutputBytes: 16 });
        return stdout;
      },
      { capabilities: ['shell'] },
      { granted: { shell: ['printf'] } },
    );
    expect(outcome).toEqual({ status: 'completed', output: 'output [redacted]' });
  });
}

function otherWays({ outcomeOf }: CredentialTools): void {
  test('[SBX-44] a value that another attempt kept in a global is taken out, too', async () => {
    const kept: string[] = [];
    await outcomeOf(async (ctx) => void kept.push(await ctx.credential('password'), await ctx.credential('pin')));
    const { outcome, said } = await outcomeOf(async (ctx) => {
      ctx.log.info(`found ${kept[0]}`);
      return kept;
    });
    expect(JSON.stringify([outcome, said])).not.toContain('Tr0ub4dor');
    // A short value is a word like any other in attempts that were not given it.
    expect(outcome).toMatchObject({ output: ['[redacted]', PIN] });
  });

  test('[SBX-55] texts that leave are concealed, and values of the input redacted', async () => {
    const token = 'a-value-of-the-input';
    const rest = { conceal: (text: string) => text.replaceAll(token, 'concealed'), secrets: [token] };
    const encoded = Buffer.from(token).toString('base64');
    const { outcome, said } = await outcomeOf(
      async (ctx) => {
        ctx.log.info(`logs ${token}`, { token });
        ctx.progress(0.5, token);
        return { [token]: [`returns ${token}`], encoded };
      },
      {},
      rest,
    );
    expect(outcome).toMatchObject({ output: { concealed: ['returns concealed'], encoded: '[redacted]' } });
    const failed = await outcomeOf(
      async () => {
        throw Object.assign(new Error(`throws ${token}`), { code: 'BROKEN', details: { token } });
      },
      {},
      rest,
    );
    expect(failed.outcome).toMatchObject({ error: { message: expect.stringContaining('throws concealed') } });
    const text = JSON.stringify([outcome, said, failed]);
    for (const trace of [token, encoded]) expect(text).not.toContain(trace);
    expect(text).toContain('logs concealed');
  });

  test('[SBX-36] no grant gives the variables of secrets', async () => {
    const { outcome } = await outcomeOf(
      async (ctx) => {
        const { stdout } = await ctx.shell('env', []);
        return [ctx.env('NEBULA_SECRETS_KEY'), ctx.env('NEBULA_SECRET_A'), stdout];
      },
      { capabilities: ['env', 'shell'] },
      { granted: { env: ['*'], shell: ['env'] } },
    );
    expect(outcome).toMatchObject({ output: [null, null, expect.not.stringContaining('NEBULA_SECRET')] });
    expect(outcome).toMatchObject({ output: [null, null, expect.stringContaining('GRANTED=yes')] });
  });

  test('[SBX-37] a header with a credential stays at its origin', async () => {
    const seen: unknown[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers['x-key'], request.headers['x-plain']);
      response.end();
    });
    const first = createServer((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${portOf(other)}/` }).end();
    });
    const portOf = (server: typeof first): number => (server.address() as AddressInfo).port;
    for (const server of [first, other]) await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    try {
      await outcomeOf(
        async (ctx) => {
          const headers = { 'x-key': `Key ${await ctx.credential('pin')}`, 'x-plain': 'yes' };
          await ctx.fetch(`http://127.0.0.1:${portOf(first)}/`, { headers });
        },
        { capabilities: ['network'] },
        { granted: { network: ['*', '127.0.0.0/8'] } },
      );
    } finally {
      for (const server of [first, other]) server.close();
    }
    expect(seen).toEqual([undefined, 'yes']);
  });
}

/** The cases for the rules above. */
export const handsOut = { credential };
