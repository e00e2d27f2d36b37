/**
 * Secrets: sealed values, by name. Only an action gets a value, for an alias that its node names, in the process that runs
 * it. A value is never part of a definition, a journal or an API response.
 */
import { NebulaError } from '@nebula/core';
import { DEFAULT_PROJECT } from './executions.ts';

export interface SecretInfo {
  readonly name: string;
  /** Null if the driver does not know. */
  readonly updatedAt: number | null;
}

export interface Secrets {
  get(name: string): Promise<string | undefined>;
  /**
   * Creates or replaces a secret. Rejects with `SECRET_INVALID`, or `SECRETS_READ_ONLY` if values come from elsewhere.
   */
  set(name: string, value: string): Promise<void>;
  /** Replaces an existing value. Returns false, and changes nothing, if there is none. */
  rotate(name: string, value: string): Promise<boolean>;
  /** Returns false if there is none. */
  delete(name: string): Promise<boolean>;
  /** Names in order, without values. */
  list(): Promise<readonly SecretInfo[]>;
  /** Seals everything under a new key and returns the number of secrets. Absent if the driver has no key of its own. */
  rotateKey?(): Promise<number>;
}

export const SECRET_LIMITS = {
  /** Shorter values cannot be redacted from an output without destroying it. */
  minValueChars: 4,
  maxValueChars: 65_536,
  maxNameChars: 128,
} as const;

const NAME = /^[a-zA-Z0-9_-]+$/;
/** The name in the driver, with its project. */
const STORED_NAME = /^([a-zA-Z0-9_-]+\/)?[a-zA-Z0-9_-]+$/;

/** Rejects invalid names and values, the same in every driver. The error never repeats the value. */
export function checkSecret(name: string, value?: string): void {
  const { minValueChars, maxValueChars, maxNameChars } = SECRET_LIMITS;
  if (!STORED_NAME.test(name) || name.split('/').some((part) => part.length > maxNameChars)) {
    throw badName(name);
  }
  if (value === undefined) return;
  if (value.trim().length < minValueChars) {
    throw invalid(
      `the value of '${name}' is too short`,
      `It needs ${minValueChars} characters, blanks at its ends not counted: a shorter one could not be kept out of logs.`,
    );
  }
  if (value.length > maxValueChars || !value.isWellFormed()) {
    throw invalid(`the value of '${name}' cannot be kept`, `It is text of at most ${maxValueChars} characters.`);
  }
}

function badName(name: string): NebulaError {
  const { maxNameChars } = SECRET_LIMITS;
  return invalid(
    `'${name.slice(0, maxNameChars)}' cannot be the name of a secret`,
    `A name has letters, digits, _ and -, at most ${maxNameChars} of them.`,
  );
}

function invalid(message: string, hint: string): NebulaError {
  return new NebulaError('SECRET_INVALID', message, { hint });
}

/**
 * Secrets belong to projects. A driver stores those of the default project by their names, and those of other projects as
 * `project/name`. Names have no slash, so the names of two projects never collide.
 */
function storedName(project: string, name: string): string {
  if (!NAME.test(name)) throw badName(name);
  return project === DEFAULT_PROJECT ? name : `${project}/${name}`;
}

/** The secret of a project; undefined if there is none, or if the name is invalid. */
export async function secretIn(
  secrets: Pick<Secrets, 'get'>,
  project: string,
  name: string,
): Promise<string | undefined> {
  return NAME.test(name) ? await secrets.get(storedName(project, name)) : undefined;
}

/** The secrets of one project. */
export function secretsIn(secrets: Secrets, project: string): Omit<Secrets, 'rotateKey'> {
  return {
    get: async (name) => await secretIn(secrets, project, name),
    set: async (name, value) => await secrets.set(storedName(project, name), value),
    rotate: async (name, value) => await secrets.rotate(storedName(project, name), value),
    delete: async (name) => await secrets.delete(storedName(project, name)),
    async list() {
      const prefix = project === DEFAULT_PROJECT ? '' : `${project}/`;
      const own = (await secrets.list()).filter(({ name }) => name.startsWith(prefix));
      return own
        .map(({ name, updatedAt }) => ({ name: name.slice(prefix.length), updatedAt }))
        .filter(({ name }) => NAME.test(name));
    },
  };
}

/** Gives an attempt its credentials: `credentials` are the names of secrets that its node declares, by alias. */
export function credentialReader(
  secrets: Pick<Secrets, 'get'> | undefined,
  project: string,
  credentials: Readonly<Record<string, string>>,
): (alias: string) => Promise<string> {
  return async (alias) => {
    const name = Object.hasOwn(credentials, alias) ? credentials[alias] : undefined;
    if (name === undefined) {
      throw new NebulaError('CREDENTIAL_NOT_NAMED', `the node names no secret for the credential '${alias}'`, {
        hint: `Add to the node: credentials: { ${alias}: <name of a secret> }`,
      });
    }
    if (secrets === undefined) {
      throw new NebulaError('NO_SECRETS', `there is nothing here that keeps secrets, and '${name}' is asked for`, {
        hint: 'Give the process that runs actions a driver for secrets.',
      });
    }
    const value = await secretIn(secrets, project, name);
    if (value !== undefined) return value;
    throw new NebulaError('SECRET_NOT_FOUND', `there is no secret '${name}', which is asked for as '${alias}'`, {
      hint: `Set it: nebula secrets set ${name}${project === DEFAULT_PROJECT ? '' : ` --project ${project}`}`,
    });
  };
}
