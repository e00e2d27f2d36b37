/** Secrets are planted wherever an action can put them; then everything that is kept and everything that is shown is searched. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nebulaHere } from './support/nebula-here.ts';
import { nebula, projectFolder, type Result } from './support/nebula-process.ts';

const TOKEN = 'sk_live_51H8x/Yz+Q"é\\9~secret token&more';
const PEM = '-----BEGIN KEY-----\nMIIEvAIBADANBgkqhkiG9w0BAQEF\nAASCBKYwggSiAgEAAoIBAQDRx0p7\n-----END KEY-----';
const ACCOUNT = { username: 'service-account-7', password: 'p4ss/w0rd+with"quotes' };
const PIN = '90817263';

const CONFIG = `
import { ActionError, credentialFields, defineAction, defineConfig } from '@nebula/sdk';

const encodings = (text) => [
  text,
  Buffer.from(text).toString('base64'),
  Buffer.from(text).toString('base64url'),
  Buffer.from('user:' + text).toString('base64'),
  Buffer.from(text).toString('hex'),
  encodeURIComponent(text),
  encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  new URLSearchParams({ text }).toString(),
  JSON.stringify({ text }),
  JSON.stringify({ body: JSON.stringify({ text }) }),
];
const secretsOf = async (ctx) => {
  const { username, password } = await credentialFields(ctx, 'account');
  return [await ctx.credential('token'), await ctx.credential('pem'), await ctx.credential('pin'), username, password];
};
const base = { version: '1', effect: 'idempotent', credentials: ['token', 'pem', 'pin', 'account'] };

export default defineConfig({
  inlineLimit: '4KiB',
  actions: [
    defineAction({
      ...base,
      id: 'plant.output',
      capabilities: ['shell', 'env', 'files'],
      async run(ctx) {
        const secrets = await secretsOf(ctx);
        const all = secrets.flatMap(encodings);
        for (const text of all) {
          ctx.log.info('using ' + text, { text, [text]: [{ text }] });
          ctx.progress(0.5, 'sent ' + text);
        }
        const { stdout, stderr } = await ctx.shell('sh', ['-c', 'echo "$S"; echo "$S" >&2; env'], { env: { S: secrets[0] } });
        const cut = await ctx.shell('printf', ['%s', 'begins ' + secrets[0]], { maxOutputBytes: 16 });
        void Promise.reject(new Error('stray ' + secrets[0]));
        return {
          all,
          keys: Object.fromEntries(all.map((text) => [text, { [text]: text }])),
          pin: Number(secrets[2]),
          lines: secrets[1].split('\\n'),
          large: all.join(' ').repeat(50),
          stdout,
          stderr,
          cut: cut.stdout,
          key: ctx.env('NEBULA_SECRETS_KEY') ?? 'none',
        };
      },
    }),
    defineAction({
      ...base,
      id: 'plant.error',
      async run(ctx) {
        const all = (await secretsOf(ctx)).flatMap(encodings);
        const cause = new Error('caused by ' + all.join(' '));
        throw new ActionError('refused: ' + all.join(' '), { code: 'NO_' + all[0], details: { all, [all[0]]: { all } }, hint: all[0], cause });
      },
    }),
    defineAction({
      ...base,
      id: 'plant.stack',
      async run(ctx) {
        const [token] = await secretsOf(ctx);
        const error = new TypeError('.'.repeat(3_985) + token);
        error.stack = 'TypeError: ' + token + '\\n    at ' + encodeURIComponent(token);
        throw error;
      },
    }),
    defineAction({
      ...base,
      id: 'plant.print',
      async run(ctx) {
        for (const text of (await secretsOf(ctx)).flatMap(encodings)) {
          console.log('printed ' + text);
          console.error('printed ' + text);
        }
        return 'printed';
      },
    }),
    defineAction({
      ...base,
      id: 'plant.uncaught',
      async run(ctx) {
        const [token] = await secretsOf(ctx);
        setTimeout(() => { throw new Error('uncaught ' + token); }, 10);
        await ctx.sleep(5_000);
      },
    }),
    defineAction({
      ...base,
      id: 'plant.once',
      effect: 'once',
      async run() {
        throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      },
      async verify(ctx) {
        const all = (await secretsOf(ctx)).flatMap(encodings);
        ctx.log.info('verified ' + all.join(' '));
        return { happened: true, output: { all } };
      },
    }),
  ],
});
`;

const NODE = 'credentials: { token: stripe, pem: tls, pin: pin, account: bank }';
const PLANT = `
id: plant
config: { capabilities: { shell: [sh, printf], env: ['*'], files: { read: ['*'] } } }
nodes:
  output: { action: plant.output@1, ${NODE}, cache: { ttl: 1h }, compensate: { action: plant.output@1 } }
  again: { needs: [output], action: core.set@1, with: { value: "{{ $output }}" } }
  sure: { needs: [again], action: plant.once@1, ${NODE} }
  stack: { needs: [sure], action: plant.stack@1, ${NODE}, onError: ignore }
  error: { needs: [stack], action: plant.error@1, ${NODE}, retry: { attempts: 2 } }
output: { all: "{{ $output }}" }
`;
const one = (action: string): string =>
  `id: ${action.replace('.', '-')}\nnodes: { a: { action: ${action}@1, ${NODE} } }\n`;

/** Every way to write a secret that must be found nowhere. Of the parts of a secret, those that nobody else writes. */
const TRACES: readonly string[] = [
  TOKEN,
  PIN,
  ACCOUNT.username,
  ACCOUNT.password,
  ...PEM.split('\n').slice(1, 3),
].flatMap((secret) => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(2, -2),
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    // In the middle of a longer text: of the three ways to write it, what does not depend on the neighbours.
    ...[1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, -4),
    ),
    secret.slice(0, 8),
  ];
});

function tracesIn(text: string): string[] {
  const small = text.toLowerCase();
  return TRACES.filter((trace) => small.includes(trace.toLowerCase()));
}

describe('planted secrets', () => {
  let cwd: string;
  /** Only a process of its own shows everything that an action prints, throws and leaves behind. */
  const run = (...args: string[]): Promise<Result> => nebula(['run', ...args], { cwd });
  beforeAll(async () => {
    cwd = projectFolder({
      'package.json': '{"type":"module"}',
      'nebula.config.ts': CONFIG,
      'plant.yaml': PLANT,
      'print.yaml': one('plant.print'),
      'uncaught.yaml': one('plant.uncaught'),
    });
    const values = { stripe: TOKEN, tls: PEM, pin: PIN, bank: JSON.stringify(ACCOUNT) };
    for (const [name, value] of Object.entries(values)) {
      expect(await nebulaHere(['secrets', 'set', name], { cwd, stdin: value })).toMatchObject({ code: 0, stderr: '' });
    }
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  test('[CLI-235] are in nothing that is kept or shown', { timeout: 120_000 }, async () => {
    const ran = await run('plant.yaml', '--json');
    const { executionId, status, error } = JSON.parse(ran.stdout) as Record<string, string>;
    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'NO_[redacted]', node: 'error' } });

    const about = ['show', 'timeline', 'journal', 'logs', 'explain'].flatMap((verb) => [
      ['executions', verb, executionId as string],
      ['executions', verb, executionId as string, '--json'],
    ]);
    const shown: Result[] = [ran, await run('plant.yaml')];
    for (const args of [
      ...about,
      ['executions', 'logs', executionId as string, '--level', 'debug'],
      ['executions', 'timeline', executionId as string, '--events'],
      ['executions', 'explain', executionId as string, 'error'],
      ['executions', 'undo-plan', executionId as string],
      ['executions', 'list', '--json'],
      ['secrets', 'list'],
    ]) {
      shown.push(await nebulaHere(args, { cwd }));
    }
    for (const { stdout, stderr } of shown) expect(tracesIn(stdout + stderr)).toEqual([]);
    const all = shown.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    for (const words of ['using [redacted]', 'stray [redacted]', 'verified [redacted]', 'refused: [redacted]']) {
      expect(all).toContain(words);
    }

    const files = readdirSync(path.join(cwd, '.nebula'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
    expect(files.some((file) => file.includes(`${path.sep}blobs${path.sep}`))).toBe(true);
    expect(files.some((file) => file.endsWith('nebula.db'))).toBe(true);
    for (const file of files) {
      for (const encoding of ['utf8', 'latin1', 'utf16le'] as const) {
        expect([file, tracesIn(readFileSync(file, encoding))]).toEqual([file, []]);
      }
    }
    expect(statSync(path.join(cwd, '.nebula/secrets.json')).mode & 0o777).toBe(0o600);
  });

  test('[CLI-236] are not in the output that an action prints itself', { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await run('print.yaml');
    expect(code).toBe(0);
    expect(stdout + stderr).toContain('printed [redacted]');
    expect(tracesIn(stdout + stderr)).toEqual([]);
  });

  test('[CLI-236] nor in an exception that nothing caught', { timeout: 60_000 }, async () => {
    for (const more of [[], ['--json'], ['--debug']]) {
      const { stdout, stderr } = await run('uncaught.yaml', ...more);
      expect(stderr).toContain('uncaught [redacted]');
      expect(tracesIn(stdout + stderr)).toEqual([]);
    }
  });
});
