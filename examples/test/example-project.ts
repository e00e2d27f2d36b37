/** A copy of the examples in a folder of its own, and the real program run in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BIN = path.join(ROOT, 'apps/cli/bin/nebula.js');
const HERE = path.join(ROOT, 'apps/cli/test/support/nebula-here.ts');

export interface RunDocument {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: string;
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string; readonly node?: string } | null;
  readonly nodes: Readonly<
    Record<
      string,
      { readonly status: string; readonly attempts: number; readonly startedAt: string; readonly output: unknown }
    >
  >;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type NebulaHere = (args: readonly string[], options: { readonly cwd: string }) => Promise<Ended>;

export class ExampleProject {
  readonly dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-examples-')));
  readonly #running = new Set<ChildProcess>();

  constructor() {
    cpSync(path.join(ROOT, 'nebula.config.ts'), path.join(this.dir, 'nebula.config.ts'));
    cpSync(path.join(ROOT, 'examples'), path.join(this.dir, 'examples'), {
      recursive: true,
      filter: (source) => !source.startsWith(path.join(ROOT, 'examples', 'out')),
    });
  }

  path(...parts: string[]): string {
    return path.join(this.dir, ...parts);
  }

  /** Reads a file below `examples`. */
  read(...parts: string[]): string {
    return readFileSync(this.path('examples', ...parts), 'utf8');
  }

  start(...args: string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended>; heard(): string } {
    const { NEBULA_DATA_DIR: _, FORCE_COLOR: __, NODE_TEST_CONTEXT: ___, ...env } = process.env;
    const child = spawn(process.execPath, [BIN, ...args], { cwd: this.dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(child);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        this.#running.delete(child);
        resolve({ code, stdout, stderr });
      });
    });
    return { child, ended, heard: () => stdout + stderr };
  }

  /** In this process, which takes a third of the CPU time of a new one. */
  async nebula(...args: string[]): Promise<Ended> {
    // The program has no exports.
    const { nebulaHere } = (await import(HERE)) as { nebulaHere: NebulaHere };
    return await nebulaHere(args, { cwd: this.dir });
  }

  /** Runs an example to its end; each has a data folder of its own, so that several can run at once. */
  async run(
    example: string,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly document: RunDocument }> {
    const dataDir = mkdtempSync(this.path('data-'));
    const file = path.join('examples', `${example}.yaml`);
    const { code, stdout, stderr } = await this.nebula('run', file, '--json', '--data-dir', dataDir, ...args);
    if (stderr !== '') throw new Error(`nebula run ${file} said: ${stderr}`);
    return { code, document: JSON.parse(stdout) };
  }

  async remove(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await Promise.all([...this.#running].map((child) => new Promise((resolve) => child.on('close', resolve))));
    rmSync(this.dir, { recursive: true });
  }
}

export function statuses(document: RunDocument): Record<string, string> {
  return Object.fromEntries(Object.entries(document.nodes).map(([path, node]) => [path, node.status]));
}
