/** Secrets in the environment of the process: `stripe-key` is `NEBULA_SECRET_STRIPE_KEY`. */
import { NebulaError } from '@nebula/core';
import { checkSecret, type Secrets } from '@nebula/ports';
import { byName } from './memory.ts';

const PREFIX = 'NEBULA_SECRET_';

export function environmentSecrets(env: Readonly<Record<string, string | undefined>> = process.env): Secrets {
  const readOnly = async (name: string): Promise<never> => {
    throw new NebulaError('SECRETS_READ_ONLY', `'${name}' cannot be changed: secrets are read from the environment`, {
      hint: `Set the variable ${variableOf(name)} where this process is started.`,
    });
  };
  const variableValue = (variable: string): string | undefined =>
    Object.hasOwn(env, variable) ? env[variable] : undefined;
  return {
    async get(name) {
      const value = variableValue(variableOf(name));
      if (value === undefined || value === '') return undefined;
      checkSecret(name, value);
      return value;
    },
    set: readOnly,
    rotate: readOnly,
    delete: readOnly,
    async list() {
      const variables = Object.keys(env).filter((name) => name.startsWith(PREFIX) && variableValue(name) !== '');
      return variables.map((name) => ({ name: name.slice(PREFIX.length), updatedAt: null })).sort(byName);
    },
  };
}

function variableOf(name: string): string {
  return PREFIX + name.toUpperCase().replaceAll('-', '_');
}
