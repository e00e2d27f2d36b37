/**
 * Which project a command works in.
 *
 * The configuration is the nearest `nebula.config.*`, looking upwards from the workflow's file, else from the folder of
 * an explicit `--data-dir`, else from the current folder. The project folder is where it lies; without one, the nearest
 * folder upwards from here that has a `package.json` or a `.nebula`, else the current folder.
 * Runs are kept in `--data-dir`, else `$NEBULA_DATA_DIR`, else what the configuration says, else `.nebula` there.
 */
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { NebulaError } from '@nebula/core';
import type { NebulaConfig } from '@nebula/sdk';
import type { Project } from './services.ts';
import type { Io } from './terminal/io.ts';

const CONFIG_NAMES = ['nebula.config.ts', 'nebula.config.mts', 'nebula.config.js', 'nebula.config.mjs'];
const FOLDER_MARKS = ['.nebula', 'package.json'];
const DEFAULT_DATA_DIR = '.nebula';

export interface ProjectOptions {
  readonly file?: string;
  readonly dataDir?: string;
}

export async function openProject(io: Io, options: ProjectOptions): Promise<Project> {
  const given = options.dataDir === undefined ? undefined : path.resolve(io.cwd, options.dataDir);
  const fromHere = findUpwards(io.cwd, CONFIG_NAMES);
  const configFile =
    (options.file === undefined
      ? undefined
      : findUpwards(path.dirname(path.resolve(io.cwd, options.file)), CONFIG_NAMES)) ??
    (given === undefined ? undefined : findUpwards(path.dirname(given), CONFIG_NAMES)) ??
    fromHere;
  const config = configFile === undefined ? {} : await loadConfig(configFile);
  const dir = configFile === undefined ? plainProjectDir(io.cwd) : path.dirname(configFile);
  const standing = standingDataDir(io, dir, config);
  const dataDir = given ?? standing;
  return {
    dir,
    configFile,
    config,
    dataDir,
    needsDataDirOption: dataDir !== standing || (configFile !== fromHere && io.env.NEBULA_DATA_DIR === undefined),
  };
}

/** Where runs are kept when the command line says nothing. */
function standingDataDir(io: Io, dir: string, config: NebulaConfig): string {
  const { NEBULA_DATA_DIR: fromEnvironment } = io.env;
  if (fromEnvironment !== undefined && fromEnvironment !== '') return path.resolve(io.cwd, fromEnvironment);
  return path.resolve(dir, config.dataDir ?? DEFAULT_DATA_DIR);
}

function plainProjectDir(from: string): string {
  const mark = findUpwards(from, FOLDER_MARKS);
  return mark === undefined ? from : path.dirname(mark);
}

function findUpwards(from: string, names: readonly string[]): string | undefined {
  for (let dir = from; ; dir = path.dirname(dir)) {
    for (const name of names) {
      const file = path.join(dir, name);
      if (existsSync(file)) return file;
    }
    if (dir === path.dirname(dir)) return undefined;
  }
}

async function loadConfig(file: string): Promise<NebulaConfig> {
  lendPackages();
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(file).href)) as typeof loaded;
  } catch (error) {
    if (error instanceof NebulaError) throw error;
    throw new NebulaError('CONFIG_INVALID', `${file} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
      hint: 'NEBULA_DEBUG=1 shows where it fails',
    });
  }
  if (typeof loaded.default !== 'object' || loaded.default === null) {
    throw new NebulaError('CONFIG_INVALID', `${file} has no default export`, {
      hint: "write: export default defineConfig({ … }), with defineConfig from '@nebula/sdk'",
    });
  }
  const { defineConfig } = await import('@nebula/sdk');
  return defineConfig(loaded.default as NebulaConfig);
}

let isLending = false;

/** A project may import `@nebula/sdk` without having installed it: the copy that runs is lent to it. */
function lendPackages(): void {
  if (isLending) return;
  isLending = true;
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('@nebula/')) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
