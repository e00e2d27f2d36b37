/** Loaded before modules of a project: they may import Nebula's packages without having installed them. */
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@nebula/')) return next(specifier, context);
    try {
      return next(specifier, context);
    } catch {
      return next(specifier, { ...context, parentURL: import.meta.url });
    }
  },
});
