/**
 * The one place where the core reaches for its host: libraries that most processes never need are loaded on first use,
 * synchronously, because deciding is synchronous (decision 012 has the figures).
 * A host without `require` (a browser) hands them over beforehand.
 */
import { NebulaError } from './error.ts';

const provided = new Map<string, unknown>();

export function provideModule(name: string, module: unknown): void {
  provided.set(name, module);
}

export function loadModule<T>(name: string): T {
  const known = provided.get(name);
  if (known !== undefined) return known as T;
  const modules = globalThis.process?.getBuiltinModule?.('node:module');
  if (modules === undefined) {
    throw new NebulaError('MODULE_NOT_PROVIDED', `This needs '${name}', which is not loaded.`, {
      hint: `Import it and call provideModule('${name}', …) first.`,
    });
  }
  const module: unknown = modules.createRequire(import.meta.url)(name);
  provided.set(name, module);
  return module as T;
}
