/**
 * Finds the Studio that a server shows: the folder in `$NEBULA_STUDIO_DIR`, else the files in the installed package. In
 * a clone a process of its own builds it, so that the server answers meanwhile; the build is cached.
 *
 *   idle ─ first look ─▶ building ─▶ ready | failed
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { StudioSource, StudioState } from '@nebula/server';
import { BuiltStudio, STUDIO_MANIFEST } from '@nebula/server/studio';
import type { Io } from '../terminal/io.ts';

/** A build takes a few seconds. */
const MAX_BUILD_MS = 120_000;
/** The end of what a failed build printed. */
const MAX_OUTPUT_CHARS = 4_000;

export interface Studio extends StudioSource {
  /** Stops a build that is under way. */
  close(): void;
}

/** `onFailure` is told why there is no Studio. */
export function openStudio(env: Io['env'], onFailure: (error: Error) => void): Studio | undefined {
  const { NEBULA_STUDIO_DIR: named } = env;
  if (named !== undefined && named !== '') return changingFolder(path.resolve(named), onFailure);
  const folder = packageFolder();
  if (folder === undefined) return undefined;
  const built = path.join(folder, 'dist');
  if (existsSync(path.join(built, STUDIO_MANIFEST))) return once(onFailure, async () => built);
  const script = path.join(folder, 'build/build.ts');
  return existsSync(script) ? once(onFailure, (signal) => builtBy(script, signal)) : undefined;
}

function packageFolder(): string | undefined {
  try {
    return path.dirname(createRequire(import.meta.url).resolve('@nebula/studio/package.json'));
  } catch {
    return undefined;
  }
}

/** Looks for the folder when it is first needed. */
function once(onFailure: (error: Error) => void, find: (signal: AbortSignal) => Promise<string>): Studio {
  const closed = new AbortController();
  let state: StudioState = { status: 'building' };
  let finding: Promise<StudioState> | undefined;
  const settle = async (): Promise<StudioState> => {
    try {
      state = { status: 'ready', studio: await BuiltStudio.open(await find(closed.signal)) };
    } catch (error) {
      state = { status: 'failed' };
      if (!closed.signal.aborted) onFailure(error as Error);
    }
    return state;
  };
  const settled = (): Promise<StudioState> => {
    finding ??= settle();
    return finding;
  };
  return {
    settled,
    async state() {
      void settled();
      return state;
    },
    close: () => closed.abort(),
  };
}

/** A folder that somebody else builds, as in development: each new manifest is read. */
function changingFolder(folder: string, onFailure: (error: Error) => void): Studio {
  let known: { readonly at: number; readonly studio: BuiltStudio } | undefined;
  const state = async (): Promise<StudioState> => {
    try {
      const at = statSync(path.join(folder, STUDIO_MANIFEST), { throwIfNoEntry: false })?.mtimeMs;
      if (at === undefined) return { status: 'building' };
      if (known?.at !== at) known = { at, studio: await BuiltStudio.open(folder) };
      return { status: 'ready', studio: known.studio };
    } catch (error) {
      onFailure(error as Error);
      return { status: 'failed' };
    }
  };
  return { state, settled: state, close: () => undefined };
}

/** Runs the build and returns the folder that it prints. */
async function builtBy(script: string, signal: AbortSignal): Promise<string> {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'], signal, timeout: MAX_BUILD_MS });
  let [printed, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => {
    printed += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-MAX_OUTPUT_CHARS);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`The Studio could not be built: ${errors.trim() || `exit code ${exitCode}`}`);
  return (JSON.parse(printed) as { readonly folder: string }).folder;
}
