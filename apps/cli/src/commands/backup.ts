/** `nebula backup`, `nebula backup verify` and `nebula restore`. */
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { formatSize, NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print } from '../print.ts';
import type { Call, CheckedBackup, Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { plural, shellWord } from '../views/words.ts';

export const create: Command = async (call, [target = '']) => {
  const file = await fileOf(call, target);
  const partial = `${file}.partial`;
  const progress = progressOf(call);
  try {
    await withApi(call, 'read', async ({ api }) => {
      const bytes = await api.backup(call.options.withKey === true ? { withKey: true } : {});
      await write(partial, bytes, (written) => progress.show(`copied ${formatSize(written)}`));
    });
    const checked =
      call.options.verify === false ? undefined : await call.services.backups.verify(partial, progress.of('verified'));
    await rename(partial, file);
    progress.clear();
    return reportBackup(call, file, checked);
  } catch (error) {
    progress.clear();
    await rm(partial, { force: true });
    throw error;
  }
};

export const verify: Command = async (call, [name = '']) => {
  const file = path.resolve(call.io.cwd, name);
  const progress = progressOf(call);
  const checked = await call.services.backups.verify(file, progress.of('verified')).finally(progress.clear);
  return reportBackup(call, file, checked);
};

export const restore: Command = async (call, [name = '']) => {
  const { io, options, services, program } = call;
  const dataDir = textOption(options, 'dataDir');
  const project = await services.openProject(dataDir === undefined ? {} : { dataDir });
  const progress = progressOf(call);
  const file = path.resolve(io.cwd, name);
  const checked = await services.backups
    .restore(file, project.dataDir, progress.of('restored'))
    .finally(progress.clear);
  const at = project.needsDataDirOption ? ` --data-dir ${shellWord(project.dataDir)}` : '';
  const open = unfinished(checked);
  print(call, { dataDir: project.dataDir, ...documentOf(checked) }, () => [
    `${io.out.colors.green('✓')} restored to ${shortPath(call, project.dataDir)}`,
    ...figures(checked),
    ...secretsLines(checked),
    ...missingLines(checked),
    '',
    ...(open === 0
      ? ['No run is unfinished.']
      : [
          `${plural(open, 'run')} will continue when an engine starts here, and not before.`,
          'If the original still runs, stop it first: otherwise both continue the same runs, and effects happen twice.',
        ]),
    `  ${program} executions list${at}`,
    `  ${program} resume${at}   or   ${program} serve${at}`,
  ]);
  return EXIT.completed;
};

/** Relative to the current folder if it is inside of it. */
function shortPath({ io }: Call, file: string): string {
  const relative = path.relative(io.cwd, file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

async function fileOf({ io }: Call, target: string): Promise<string> {
  const given = path.resolve(io.cwd, target);
  const found = await stat(given).catch(() => undefined);
  if (found === undefined && !target.endsWith('/')) return given;
  if (found?.isDirectory() === true) {
    const time = new Date(io.now()).toISOString().slice(0, 19).replaceAll(':', '-');
    return path.join(given, `nebula-${time}.tar`);
  }
  throw new NebulaError(
    'USAGE',
    found === undefined ? `there is no folder ${given}` : `${given} exists already; a backup overwrites nothing`,
    { hint: 'give a new file, or an existing folder, in which the backup is named after the current time' },
  );
}

async function write(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  onProgress: (written: number) => void,
): Promise<void> {
  const handle = await open(file, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new NebulaError('USAGE', `${file} cannot be written: ${error.message}`, { hint: 'give another file' });
  });
  let written = 0;
  try {
    for await (const piece of bytes) {
      await handle.writeFile(piece);
      written += piece.length;
      onProgress(written);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function reportBackup(call: Call, file: string, checked: CheckedBackup | undefined): number {
  const { green, yellow } = call.io.out.colors;
  const isWhole = checked?.missing.length === 0;
  print(call, { file, ...(checked && documentOf(checked)) }, () =>
    checked === undefined
      ? [`${yellow('!')} ${shortPath(call, file)} is written, and not verified`]
      : [
          `${isWhole ? green('✓') : yellow('!')} ${shortPath(call, file)} is a complete backup of ${checked.manifest.createdAt}`,
          ...figures(checked),
          ...secretsLines(checked),
          ...missingLines(checked),
        ],
  );
  return checked === undefined || isWhole ? EXIT.completed : EXIT.failed;
}

function documentOf({ manifest, runs, missing }: CheckedBackup): object {
  return { manifest, runs, missing };
}

function figures({ manifest, runs }: CheckedBackup): string[] {
  const byStatus = Object.entries(runs).filter(([, count]) => count > 0);
  const statuses = byStatus.map(([status, count]) => `${count} ${status}`).join(', ');
  const { database, blobs, workflows, executions } = manifest;
  return [
    `  ${plural(executions, 'run')}${statuses === '' ? '' : `: ${statuses}`}; ${plural(workflows, 'workflow')}`,
    `  database ${formatSize(database.bytes)}, ${plural(blobs.count, 'stored value')} (${formatSize(blobs.bytes)})`,
  ];
}

function secretsLines({ manifest: { secrets, key } }: CheckedBackup): string[] {
  if (secrets === null) return [];
  if (key !== null) return ['  secrets with their key: anyone who has this file has the secrets'];
  return ['  secrets are sealed; their key is not in the backup: keep secrets.key, or NEBULA_SECRETS_KEY, elsewhere'];
}

const SHOWN = 5;

function missingLines({ missing }: CheckedBackup): string[] {
  if (missing.length === 0) return [];
  const names = missing.slice(0, SHOWN).map(({ executionId, sha256 }) => `    ${printableLine(executionId)} ${sha256}`);
  return [
    `  ${plural(missing.length, 'stored value')} of the journal were missing or damaged when the backup was made:`,
    ...names,
    '    a run that needs one fails with BLOB_MISSING',
  ];
}

function unfinished({ runs }: CheckedBackup): number {
  return runs.pending + runs.running + runs.paused + runs.compensating;
}

interface Progress {
  show(text: string): void;
  of(word: string): (done: number, total: number) => void;
  clear(): void;
}

/** One line on a terminal, and nothing elsewhere. */
function progressOf({ io, options }: Call): Progress {
  const isShown = io.err.live && options.json !== true;
  let shownAt = 0;
  let isThere = false;
  const show = (text: string): void => {
    if (!isShown || io.now() - shownAt < 100) return;
    shownAt = io.now();
    isThere = true;
    io.err.write(`\r\u001b[K${text}`);
  };
  return {
    show,
    of: (word) => (done, total) => show(`${word} ${formatSize(done)} of ${formatSize(total)}`),
    clear() {
      if (isThere) io.err.write('\r\u001b[K');
      isThere = false;
    },
  };
}
