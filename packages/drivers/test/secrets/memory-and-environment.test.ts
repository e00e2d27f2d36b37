import { credentialReader } from '@nebula/ports';
import { secretsSuite } from '@nebula/ports/conformance';
import { expect, test } from 'vitest';
import { environmentSecrets, memorySecrets } from '../../src/secrets/index.ts';

secretsSuite('memory', async () => ({ secrets: memorySecrets(), close: async () => {} }));

test('[SEC-12] secrets of the environment are read, and never written', async () => {
  const env = { NEBULA_SECRET_STRIPE_KEY: 'sk_live_1', NEBULA_SECRET_PIN: '123', NEBULA_SECRET_NO: '', HOME: '/root' };
  const secrets = environmentSecrets(env);
  expect(await secrets.get('stripe-key')).toBe('sk_live_1');
  expect(await secrets.get('STRIPE_KEY')).toBe('sk_live_1');
  expect(await secrets.get('home')).toBeUndefined();
  expect(await secrets.get('no')).toBeUndefined();
  await expect(secrets.get('pin')).rejects.toMatchObject({ code: 'SECRET_INVALID' });
  expect(await secrets.list()).toEqual([
    { name: 'PIN', updatedAt: null },
    { name: 'STRIPE_KEY', updatedAt: null },
  ]);
  const writes = [() => secrets.set('a', 'value'), () => secrets.rotate('a', 'value'), () => secrets.delete('a')];
  for (const write of writes) {
    await expect(write()).rejects.toMatchObject({
      code: 'SECRETS_READ_ONLY',
      hint: expect.stringContaining('SECRET_A'),
    });
  }
});

test('[SEC-13] an alias gives the secret that the node names, or an error that says what is missing', async () => {
  const secrets = memorySecrets({ 'stripe-key': 'sk_live_1' });
  const credential = credentialReader(secrets, 'default', { api: 'stripe-key', other: 'unknown' });
  expect(await credential('api')).toBe('sk_live_1');
  await expect(credential('other')).rejects.toMatchObject({
    code: 'SECRET_NOT_FOUND',
    hint: 'Set it: nebula secrets set unknown',
  });
  for (const alias of ['stripe-key', 'toString', '__proto__']) {
    await expect(credential(alias)).rejects.toMatchObject({ code: 'CREDENTIAL_NOT_NAMED' });
  }
  await expect(credentialReader(undefined, 'default', { api: 'stripe-key' })('api')).rejects.toMatchObject({
    code: 'NO_SECRETS',
  });
});
