/**
 * Applies changes of the configuration to a running server as far as that is safe, and reports the keys
 * that need a restart.
 */
import { watch } from 'node:fs';
import { NebulaError } from '@nebula/core';
import { CONFIG_KEYS, type ConfigKey, type NebulaConfig } from '@nebula/sdk';
import { configFileIn, isConfigName, loadConfig } from '../project.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 150;

export interface ConfigChange {
  /** Undefined if the file was removed. */
  readonly file: string | undefined;
  readonly config: NebulaConfig;
  /** Paths of keys that need a restart. */
  readonly waiting: readonly string[];
}

export interface ConfigWatcher {
  onChange(change: ConfigChange): void;
  /** The configuration is invalid; the previous one stays. */
  onBroken(error: unknown): void;
}

/**
 * `dir`: the folder of the configuration. `running`: the configuration of the server. Returns a function that stops it.
 */
export function watchConfig(dir: string, running: NebulaConfig, { onChange, onBroken }: ConfigWatcher): () => void {
  let revision = 0;
  let timer: NodeJS.Timeout | undefined;
  const reload = async (): Promise<void> => {
    try {
      const file = configFileIn(dir);
      const config = file === undefined ? {} : await loadConfig(file, ++revision);
      const waiting = changedKeys(running, config).filter((key) => !isLive(key));
      onChange({ file, config, waiting });
    } catch (error) {
      onBroken(error);
    }
  };
  const watcher = watch(dir, (_, name) => {
    if (name === null || !isConfigName(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), QUIET_MS);
  });
  watcher.on('error', (error) =>
    onBroken(new NebulaError('CONFIG_INVALID', `the configuration in ${dir} is not watched: ${error.message}`)),
  );
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** Paths of changed keys. Code cannot be compared, so actions are compared by name and version. */
function changedKeys(before: NebulaConfig, after: NebulaConfig): string[] {
  const leaves = Object.keys(CONFIG_KEYS).filter(
    (key) => !Object.keys(CONFIG_KEYS).some((other) => other.startsWith(`${key}.`)),
  );
  return leaves.filter((key) => markOf(valueAt(before, key)) !== markOf(valueAt(after, key)));
}

function isLive(key: string): boolean {
  return (CONFIG_KEYS as Readonly<Record<string, ConfigKey>>)[key]?.isLive === true;
}

function valueAt(config: unknown, key: string): unknown {
  let value = config;
  for (const part of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}

function markOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'function' ? 'code' : inner)) ?? '';
}
