/**
 * Finds the project that a command works in.
 *
 * The configuration is the nearest `nebula.config.*`, looking upwards from the workflow's file, else from the folder
 * above `--data-dir` or `$NEBULA_DATA_DIR`, else from the current folder. The project folder is its folder; without one, the nearest
 * folder upwards from here that has a `package.json` or a `.nebula`, else the current folder.
 * The data folder is `--data-dir`, else `$NEBULA_DATA_DIR`, else the one in the configuration, else `.nebula` there.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { NebulaError } from '@nebula/core';
import type { NebulaConfig } from '@nebula/sdk';
import { serverLocation } from './remote/server-location.ts';
import type { Project, ProjectOptions } from './services.ts';
import type { Io } from './terminal/io.ts';

const CONFIG_NAMES = [
  'nebula.config.ts',
  'nebula.config.mts',
  'nebula.config.js',
  'nebula.config.mjs',
  'nebula.config.yaml',
  'nebula.config.yml',
];
const FOLDER_MARKS = ['.nebula', 'package.json'];
const DEFAULT_DATA_DIR = '.nebula';

export async function openProject(io: Io, options: ProjectOptions): Promise<Project> {
  const fromEnvironment = absolute(io, io.env.NEBULA_DATA_DIR || undefined);
  const named = absolute(io, options.dataDir) ?? fromEnvironment;
  const fromHere = findUpwards(io.cwd, CONFIG_NAMES);
  const configFile =
    (options.file === undefined
      ? undefined
      : findUpwards(path.dirname(path.resolve(io.cwd, options.file)), CONFIG_NAMES)) ??
    (named === undefined ? undefined : findUpwards(path.dirname(named), CONFIG_NAMES)) ??
    fromHere;
  const config = configFile === undefined ? {} : await loadConfig(configFile);
  const dir = configFile === undefined ? plainProjectDir(io.cwd) : path.dirname(configFile);
  const byDefault = fromEnvironment ?? path.resolve(dir, config.dataDir ?? DEFAULT_DATA_DIR);
  const dataDir = named ?? byDefault;
  return {
    dir,
    configFile,
    config,
    dataDir,
    needsDataDirOption: dataDir !== byDefault || (configFile !== fromHere && fromEnvironment === undefined),
    server: await serverLocation(io, options, dataDir),
  };
}

function absolute({ cwd }: Io, dir: string | undefined): string | undefined {
  return dir === undefined ? undefined : path.resolve(cwd, dir);
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

/** The configuration file of a folder: the first name of `CONFIG_NAMES` that exists. */
export function configFileIn(dir: string): string | undefined {
  return CONFIG_NAMES.map((name) => path.join(dir, name)).find((file) => existsSync(file));
}

/** Patterns of workflow files without `server.workflows` in the configuration. */
const DEFAULT_PATTERNS: readonly string[] = ['workflows/**/*.{yaml,yml,json,ts}'];

/** Patterns of the files that a server registers, relative to the folder of the configuration. */
export function workflowPatterns({ server }: NebulaConfig): readonly string[] {
  return server?.workflows ?? DEFAULT_PATTERNS;
}

/** The part of a pattern before its first wildcard, as a folder: `flows` of `flows/**\/*.yaml`. */
export function baseFolder(pattern: string): string {
  const parts = pattern.split('/');
  const wild = parts.findIndex((part) => /[*?{[(]/.test(part));
  return parts.slice(0, wild < 0 ? -1 : wild).join('/') || (pattern.startsWith('/') ? '/' : '.');
}

export function isConfigName(name: string): boolean {
  return CONFIG_NAMES.includes(name);
}

/** A new `revision` loads a module again; Node caches modules by URL. */
export async function loadConfig(file: string, revision = 0): Promise<NebulaConfig> {
  const { defineConfig } = await import('@nebula/sdk');
  const given = /\.ya?ml$/.test(file) ? await readYaml(file) : await importModule(file, revision);
  try {
    return defineConfig(given as NebulaConfig);
  } catch (error) {
    throw error instanceof NebulaError ? inFile(file, error) : error;
  }
}

function inFile(file: string, { code, message, hint }: NebulaError): NebulaError {
  return new NebulaError(code, `${file}: ${message}`, hint === undefined ? {} : { hint });
}

/** Reads the same keys as in TypeScript, except those that are code. */
async function readYaml(file: string): Promise<unknown> {
  const { readFile } = await import('node:fs/promises');
  const { parse } = await import('yaml');
  const { CONFIG_KEYS } = await import('@nebula/sdk');
  let config: unknown;
  try {
    config = parse(await readFile(file, 'utf8'), { maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new NebulaError('CONFIG_INVALID', `${file} cannot be read: ${(error as Error).message}`, {
      hint: 'docs/reference/config.md shows every key',
      cause: error,
    });
  }
  const code = Object.keys(config as object).find((key) => key in CONFIG_KEYS && isCode(CONFIG_KEYS, key));
  if (code === undefined) return config;
  throw new NebulaError('CONFIG_INVALID', `${file}: '${code}' is code and cannot be written in YAML`, {
    hint: 'use nebula.config.ts instead: the other keys are the same there',
  });
}

function isCode(keys: Readonly<Record<string, { readonly isCode?: true }>>, key: string): boolean {
  return keys[key]?.isCode === true;
}

async function importModule(file: string, revision: number): Promise<unknown> {
  await import('./testing/resolve-packages.ts');
  let loaded: { readonly default?: unknown };
  try {
    const { href } = pathToFileURL(file);
    loaded = (await import(revision === 0 ? href : `${href}?revision=${revision}`)) as typeof loaded;
  } catch (error) {
    const { loadFailure } = await import('./load-failure.ts');
    throw await loadFailure('CONFIG_INVALID', file, { cwd: path.dirname(file), error });
  }
  if (typeof loaded.default !== 'object' || loaded.default === null) {
    throw new NebulaError('CONFIG_INVALID', `${file} has no default export`, {
      hint: "write: export default defineConfig({ … }), with defineConfig from '@nebula/sdk'",
    });
  }
  return loaded.default;
}
