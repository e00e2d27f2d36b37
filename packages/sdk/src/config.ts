/** `nebula.config.ts`: the project's actions, drivers and server settings. */
import { didYouMean, NebulaError } from '@nebula/core/authoring';
import { CONFIG_KEYS, type ConfigKey } from './config-keys.ts';
import type { NebulaConfig } from './config-model.ts';

/**
 * Validates the configuration and returns it. Node runs the file without type checks, so a misspelt key would otherwise
 * be ignored silently.
 */
export function defineConfig(config: NebulaConfig): NebulaConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    fail('the configuration is not an object', 'Write defineConfig({ … })');
  const mistakes = mistakesIn(config, '');
  if (mistakes.length > 0) throw invalid(mistakes);
  return config;
}

interface Mistake {
  readonly message: string;
  readonly hint: string;
}

/** A single mistake as one message, several as a list. */
function invalid(mistakes: readonly Mistake[]): NebulaError {
  const [first, ...others] = mistakes as [Mistake, ...Mistake[]];
  if (others.length === 0) return new NebulaError('CONFIG_INVALID', first.message, { hint: first.hint });
  const lines = mistakes.map(({ message, hint }) => `\n  • ${message} (${hint})`);
  return new NebulaError('CONFIG_INVALID', `${mistakes.length} mistakes${lines.join('')}`, {
    hint: 'docs/reference/config.md shows every key',
  });
}

/** Checks values at load time: a value of the wrong type would otherwise fail much later and elsewhere. */
function mistakesIn(object: object, path: string): Mistake[] {
  const known = Object.keys(CONFIG_KEYS).filter((key) => key.startsWith(path) && !key.slice(path.length).includes('.'));
  return Object.entries(object).flatMap(([name, value]) => {
    const place = path + name;
    if (!known.includes(place)) return [unknownKey(path, name, known)];
    if (value === undefined) return [];
    const wrong = (CONFIG_KEYS as Readonly<Record<string, ConfigKey>>)[place]?.check(value);
    if (wrong !== undefined) return [{ message: wrong.what ?? `${place} is ${describe(value)}`, hint: wrong.hint }];
    return isSection(place) ? mistakesIn(value, `${place}.`) : [];
  });
}

function isSection(place: string): boolean {
  return Object.keys(CONFIG_KEYS).some((key) => key.startsWith(`${place}.`));
}

function unknownKey(path: string, name: string, known: readonly string[]): Mistake {
  const names = known.map((key) => key.slice(path.length));
  const guess = didYouMean(name, names);
  const where = path === '' ? 'the configuration' : path.slice(0, -1);
  return {
    message: `${where} has an unknown key '${name}'`,
    hint: guess === undefined ? `Use one of: ${names.join(', ')}` : `Did you mean '${guess}'?`,
  };
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${String(value).slice(0, 40)}`;
}

function fail(message: string, hint: string): never {
  throw new NebulaError('CONFIG_INVALID', message, { hint });
}
