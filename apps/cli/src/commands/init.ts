import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import { linkClone } from '../init/clone.ts';
import { templateFiles } from '../init/template.ts';
import { ownVersion } from '../own-version.ts';
import { print } from '../print.ts';
import type { Command, Context } from '../services.ts';
import { nextLines } from '../views/summary.ts';
import { shellWord } from '../views/words.ts';

export const execute: Command = async (call, [name = '.']) => {
  const folder = path.resolve(call.io.cwd, name);
  const made = makeProject(folder, await ownVersion(), call.options.force === true);
  return print(call, { folder, ...made }, () => madeLines(call, folder, made));
};

interface Made {
  readonly written: readonly string[];
  readonly kept: readonly string[];
  /** Packages that are links into the clone of the repository whose command made the project. */
  readonly linked: readonly string[];
}

function makeProject(folder: string, version: string, isForced: boolean): Made {
  try {
    refuseFullFolder(folder, isForced);
    return writeFiles(folder, version);
  } catch (error) {
    throw error instanceof NebulaError ? error : initFailure(folder, error as NodeJS.ErrnoException);
  }
}

function writeFiles(folder: string, version: string): Made {
  const files = templateFiles({ name: packageName(folder), version });
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    makeFolders(path.dirname(file));
    try {
      writeFileSync(file, text, { flag: 'wx' });
      written.push(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      kept.push(name);
    }
  }
  return { written, kept, linked: linkClone(folder, makeFolders) };
}

/** Creates one folder at a time: Node's `recursive` never returns where a parent answers ENOENT to mkdir (/proc). */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(path.dirname(folder));
  mkdirSync(folder);
}

function initFailure(folder: string, error: NodeJS.ErrnoException): NebulaError {
  return new NebulaError('INIT_FAILED', `cannot create a project in ${folder}: ${reasonOf(error)}`, {
    cause: error,
    hint: 'name a folder that you may write to; it is created if it does not exist',
  });
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of the path is a file';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EROFS':
    case 'ENOENT': // the parent exists but cannot have subfolders: /proc
      return 'nothing can be written there';
    default:
      return message;
  }
}

/** Entries that a folder counted as empty may have: a repository, or the installed command. */
const EXPECTED = new Set(['.git', 'node_modules']);

function refuseFullFolder(folder: string, isForced: boolean): void {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => !EXPECTED.has(name)) : [];
  if (found.length === 0 || isForced) return;
  throw new NebulaError('FOLDER_NOT_EMPTY', `${folder} is not empty`, {
    hint: 'name a new folder, or give --force, which keeps existing files',
  });
}

function packageName(folder: string): string {
  const name = path
    .basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'nebula-project' : name;
}

function madeLines({ io, program }: Context, folder: string, { written, kept, linked }: Made): string[] {
  const { colors } = io.out;
  const relative = path.relative(io.cwd, folder) || '.';
  return [
    `${colors.green('✓')} a project in ${colors.bold(relative)}`,
    ...written.map((name) => `  ${colors.green('+')} ${name}`),
    ...kept.map((name) => `  ${colors.dim(`= ${name} (kept)`)}`),
    ...linked.map(
      (name) => `  ${colors.dim(`→ node_modules/${name} (link into the clone that this command runs from)`)}`,
    ),
    '',
    ...nextLines(
      [
        ...(relative === '.' ? [] : ([[`cd ${shellWord(relative)}`, '']] as const)),
        // Without an install, `npx nebula` would fetch an unrelated package of that name.
        ...(program === 'nebula' ? [] : ([['npm install', '']] as const)),
        [`${program} run workflows/hello.yaml --set name=Ada`, 'run the example'],
        [program === 'nebula' ? 'npm install && npm test' : 'npm test', 'run its tests'],
      ],
      { colors, width: io.out.columns() },
    ),
  ];
}
