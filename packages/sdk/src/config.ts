/** `nebula.config.ts`: the project's actions, drivers and server settings. */
import { NebulaError, problemsOf } from '@nebula/core/authoring';
import { CONFIG_RULES, configRecord } from './config-keys.ts';
import type { NebulaConfig } from './config-model.ts';

/**
 * Validates the configuration and returns it. Node runs the file without type checks, so a misspelt key would otherwise
 * be ignored silently, and a value of the wrong type would fail much later and elsewhere.
 */
export function defineConfig(config: NebulaConfig): NebulaConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new NebulaError('CONFIG_INVALID', 'the configuration is not an object', {
      hint: 'Write defineConfig({ … })',
    });
  const all = 'docs/reference/config.md shows every key';
  const mistakes = problemsOf(configRecord(), config, CONFIG_RULES).map(({ path, message, hint = all }) => {
    return { message: `${path.length === 0 ? '' : `${path.join('.')}: `}${message}`, hint };
  });
  const [first, ...others] = mistakes;
  if (first === undefined) return config;
  if (others.length === 0) throw new NebulaError('CONFIG_INVALID', first.message, { hint: first.hint });
  const lines = mistakes.map(({ message, hint }) => `\n  • ${message} (${hint})`);
  throw new NebulaError('CONFIG_INVALID', `${mistakes.length} mistakes${lines.join('')}`, { hint: all });
}
