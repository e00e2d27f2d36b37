/**
 * Loads heavy libraries that most processes never need, on first use. Loading is synchronous because `decide` is
 * (decision 012 has the figures). This is the only place where core reaches for its host. A host without `require` (a
 * browser) passes the modules to `provideModule` beforehand.
 */
import { NebulaError } from './error.ts';

const MODULES = [
  'yaml',
  're2js',
  'ajv-formats/dist/formats.js',
  '@noble/hashes/hmac.js',
  '@noble/hashes/legacy.js',
  '@noble/hashes/sha2.js',
] as const;

type ModuleName = (typeof MODULES)[number];

const provided = new Map<string, unknown>();

export function provideModule(name: string, module: unknown): void {
  provided.set(name, module);
}

/** Loads all modules now. A server does so before it listens: loading one later blocks its event loop for up to 25 ms. */
export function loadModules(): void {
  for (const name of MODULES) loadModule(name);
}

export function loadModule<T>(name: ModuleName): T {
  const known = provided.get(name);
  if (known !== undefined) return known as T;
  const modules = globalThis.process?.getBuiltinModule?.('node:module');
  if (modules === undefined) {
    throw new NebulaError('MODULE_NOT_PROVIDED', `Module '${name}' is required but not loaded.`, {
      hint: `Import it and call provideModule('${name}', …) first.`,
    });
  }
  const module: unknown = modules.createRequire(import.meta.url)(name);
  provided.set(name, module);
  return module as T;
}
