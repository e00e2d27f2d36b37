/** Runs `*.test.ts` with Node's own test runner, each file in its own process. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { COVERAGE_DIR, type Coverage, type CoverageData } from '@nebula/testing';
import type { FileOutcome, TestOutcome } from './view.ts';

const RESOLVE_PACKAGES = fileURLToPath(new URL('./resolve-packages.ts', import.meta.url));

interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly details: { readonly type?: string | undefined; readonly error?: Error };
}

export async function runCode(cwd: string, files: readonly string[], coverage: Coverage): Promise<FileOutcome[]> {
  const dir = mkdtempSync(path.join(tmpdir(), 'nebula-coverage-'));
  const before = process.env[COVERAGE_DIR];
  process.env[COVERAGE_DIR] = dir;
  try {
    const outcomes = await collect(cwd, files);
    for (const name of readdirSync(dir)) {
      coverage.add(JSON.parse(readFileSync(path.join(dir, name), 'utf8')) as CoverageData);
    }
    return outcomes;
  } finally {
    if (before === undefined) delete process.env[COVERAGE_DIR];
    else process.env[COVERAGE_DIR] = before;
    rmSync(dir, { recursive: true, force: true });
  }
}

async function collect(cwd: string, files: readonly string[]): Promise<FileOutcome[]> {
  const absolute = files.map((file) => path.resolve(cwd, file));
  const found = new Map<string, TestOutcome[]>(absolute.map((file) => [file, []]));
  const stream = run({ files: absolute, concurrency: true, execArgv: ['--import', RESOLVE_PACKAGES] });
  const complaints = new Map<string, string>();
  const heard = (event: TestEvent, passed: boolean): void => {
    const file = event.file ?? event.name;
    const outcome = outcomeOf(event, passed, cwd, complaints.get(file));
    if (outcome !== undefined) found.get(file)?.push(outcome);
  };
  stream.on('test:stderr', ({ file, message }) => complaints.set(file, (complaints.get(file) ?? '') + message));
  stream.on('test:pass', (event) => heard(event as unknown as TestEvent, true));
  stream.on('test:fail', (event) => heard(event as unknown as TestEvent, false));
  for await (const _ of stream) {
    // The output is read to its end; results arrive as events.
  }
  return files.map((file, at) => ({ file, tests: withoutEchoes(found.get(absolute[at] as string) ?? []) }));
}

/** `complaint`: the stderr of the process. */
function outcomeOf(
  event: TestEvent,
  passed: boolean,
  cwd: string,
  complaint: string | undefined,
): TestOutcome | undefined {
  const { name, file, line, column, details } = event;
  if (details.type === 'suite') return undefined;
  const isWholeFile = path.isAbsolute(name);
  if (isWholeFile && passed) return undefined;
  const error = (details.error?.cause ?? details.error) as
    | (Error & { code?: string; hint?: string })
    | string
    | undefined;
  const own = typeof error === 'string' ? error : (error?.message ?? 'it failed');
  // Node's assertions contain colours if they are made in a terminal.
  const message = stripVTControlCharacters(isWholeFile && complaint !== undefined ? lastLines(complaint) : own);
  const { code, hint } = typeof error === 'object' ? error : {};
  return {
    name: isWholeFile ? '(the file)' : name,
    passed,
    differences: [],
    path: [],
    ...(!passed && { failure: { message, ...(code && { code }), ...(hint && { hint }) } }),
    ...(file !== undefined && line !== undefined && { place: `${path.relative(cwd, file)}:${line}:${column ?? 1}` }),
  };
}

/** Removes the failure of a file that repeats the failure of a test in it. */
function withoutEchoes(tests: readonly TestOutcome[]): readonly TestOutcome[] {
  const own = tests.filter(({ name }) => name !== '(the file)');
  return own.some(({ passed }) => !passed) ? own : tests;
}

const SHOWN_LINES = 15;

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
}
