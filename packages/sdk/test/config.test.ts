import { NebulaError } from '@nebula/core';
import type { Store } from '@nebula/ports';
import { expect, test } from 'vitest';
import { defineAction, defineConfig, type NebulaConfig } from '../src/index.ts';

test('[SDK-9] a configuration is returned unchanged', () => {
  const config: NebulaConfig = {
    actions: [defineAction({ id: 'my.action', version: '1', run: () => null })],
    retryPolicies: { twice: (k) => (k > 2 ? null : 100) },
    capabilities: { network: ['*.example.com'] },
    concurrency: 8,
    dataDir: '.nebula',
    retention: '30d',
    server: { port: 8080, preset: 'selfhost', workflows: ['flows/*.yaml'], bodyLimit: '64MiB', logLevel: 'warn' },
    inlineLimit: '64KiB',
    drivers: { store: async ({ dataDir }) => ({ dataDir }) as unknown as Store },
  };
  expect(defineConfig(config)).toBe(config);
  expect(defineConfig({})).toEqual({});
});

test.each<[string, unknown, RegExp]>([
  ['a misspelt key', { concurency: 3 }, /concurrency/],
  ['an unknown key', { colour: 'red' }, /the keys of the configuration are dataDir/],
  ['a misspelt key of the server', { server: { prot: 8080 } }, /port/],
  ['a port that is none', { server: { port: 70_000 } }, /65535/],
  ['a preset that is none', { server: { preset: 'laptop' } }, /selfhost/],
  ['one workflow file instead of a list', { server: { workflows: 'a.yaml' } }, /write it as a list/],
  ['a URL that is none', { server: { url: 'flows' } }, /a URL/],
  ['a size that is none', { server: { bodyLimit: 'much' } }, /64KiB/],
  ['a body limit without end', { server: { bodyLimit: Number.POSITIVE_INFINITY } }, /64KiB/],
  ['a proxy without a prototype', { server: { trustProxy: [Object.create(null)] } }, /an address/],
  [
    'a path without a prototype',
    { server: { workflowGraph: { project: 'x', path: Object.create(null) } } },
    /a string/,
  ],
  ['a retention that is none', { retention: 'long' }, /30d/],
  ['a misspelt driver', { drivers: { blob: () => null } }, /blobs/],
  ['a driver that is not a function', { drivers: { store: {} } }, /a function/],
  ['something that is no action', { actions: [{ id: 'x' }] }, /defineAction/],
  ['a concurrency of nothing', { concurrency: 0 }, /at least 1/],
  ['a durability of its own', { durability: 'lazy' }, /strict/],
  ['a misspelt limit', { expressionLimits: { maxOperation: 5 } }, /maxOperations/],
  ['a limit of nothing', { expressionLimits: { maxOperations: 0 } }, /at least 1/],
  ['actions that are no list', { actions: {} }, /a list, not a mapping/],
  ['a data folder that is a number', { dataDir: 5 }, /a string/],
  ['a misspelt capability', { capabilities: { netwrk: [] } }, /network/],
  ['a capability that is no list', { capabilities: { network: 5 } }, /write it as a list/],
  ['a file capability that is no list', { capabilities: { files: { read: 'x' } } }, /write it as a list/],
  ['capabilities that are a number', { capabilities: 5 }, /capabilities: \{/],
  ['a retry policy that is a number', { retryPolicies: { a: 5 } }, /function/],
  ['drivers that are a number', { drivers: 5 }, /drivers: \{/],
  ['an inline limit below nothing', { inlineLimit: -1 }, /64KiB/],
  ['nothing', null, /defineConfig/],
])('[SDK-9] %s is refused with a hint', (_, config, hint) => {
  let error: unknown;
  try {
    defineConfig(config as NebulaConfig);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(NebulaError);
  const { code, message, hint: words } = error as NebulaError;
  expect([code, `${message} (${words})`]).toEqual(['CONFIG_INVALID', expect.stringMatching(hint)]);
});

test('[SDK-9] several mistakes are reported together', () => {
  const config = { concurency: 3, server: { prot: 1, port: 'x' } } as unknown as NebulaConfig;
  expect(() => defineConfig(config)).toThrow(
    /^3 mistakes\n {2}• .*'concurency' .*\(did you mean 'concurrency'\?\)\n {2}• server.*'port'\?\)\n {2}• server\.port: .* the string 'x'/,
  );
});

test('[SDK-9] a misspelt key does not compile either', () => {
  // @ts-expect-error: it is called concurrency
  expect(() => defineConfig({ concurency: 3 })).toThrow();
});

test('[SDK-55] notifications of the operator are accepted', () => {
  const notifications: NebulaConfig['notifications'] = [
    {
      id: 'ops',
      url: 'https://hooks.example.com/x',
      secret: 'hook-key',
      on: ['failed'],
      gather: '10m',
      stuckAfter: '1h',
    },
    { id: 'desk', project: 'shop', command: ['notify-send', 'Nebula'], workflows: ['order'], tag: 'billing' },
  ];
  expect(defineConfig({ notifications })).toEqual({ notifications });
});

test.each<[string, unknown, RegExp]>([
  ['neither a url nor a command', { id: 'a' }, /notifications\.0: .*either a url or a command.*hooks\.example\.com/],
  ['both', { id: 'a', url: 'https://x.example', command: ['x'] }, /either a url or a command/],
  ['no id', { url: 'https://x.example' }, /'id'/],
  ['an id that is none', { id: 'a b', url: 'https://x.example' }, /notifications\.0\.id: .*letters, digits/],
  ['a command as one text', { id: 'a', command: 'rm -rf' }, /notifications\.0\.command: .*list/],
  ['an empty command', { id: 'a', command: [] }, /'command' is empty/],
  ['a command with a secret', { id: 'a', command: ['x'], secret: 'y' }, /neither secret nor network/],
  ['an event that is none', { id: 'a', url: 'https://x.example', on: ['done'] }, /failed, unknown, approval/],
  ['a time that is none', { id: 'a', url: 'https://x.example', stuckAfter: 'long' }, /a duration such as 15m/],
  ['a misspelt key', { id: 'a', url: 'https://x.example', tags: 'x' }, /did you mean 'tag'/],
])('[SDK-56] a notification with %s is refused with its place', (_, notification, words) => {
  const config = { notifications: [notification] } as unknown as NebulaConfig;
  let error: unknown;
  try {
    defineConfig(config);
  } catch (caught) {
    error = caught;
  }
  const { code, message, hint } = error as NebulaError;
  expect([code, `${message} (${hint})`]).toEqual(['CONFIG_INVALID', expect.stringMatching(words)]);
});

test('[SDK-57] two notifications with one id are refused', () => {
  const one = { id: 'ops', url: 'https://hooks.example.com/x' };
  expect(() => defineConfig({ notifications: [one, one] })).toThrow("two notifications have the id 'ops'");
});
