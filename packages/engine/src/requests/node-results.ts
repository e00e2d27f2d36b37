/** The last results of the nodes of a run, by their path in the definition: what a test run can be pinned with. */
import {
  definitionPathOf,
  type Json,
  NebulaError,
  type NodePath,
  type Pin,
  type Plan,
  type RunError,
} from '@nebula/core';
import { NULL_VALUE, type StoredValue } from '@nebula/core/run';
import { type Clock, pause } from '@nebula/ports';
import type { JournalFrame } from '../api.ts';
import type { ResultItem } from '../test-runs.ts';

export interface NodeResult {
  /** The path in the run: in a loop, that of the iteration that ended last. */
  readonly path: NodePath;
  readonly at: number;
  readonly result:
    | { readonly status: 'completed'; readonly output: StoredValue }
    | { readonly status: 'failed'; readonly error: RunError }
    | { readonly status: 'skipped' };
}

/** The event loop runs after so many characters of the journal: a few milliseconds. */
const UNPAUSED_CHARS = 128 * 1024;

/** Reads the whole journal, since the state keeps no finished iterations. */
export async function nodeResults(
  plan: Plan,
  frames: AsyncIterable<JournalFrame>,
  clock: Clock,
): Promise<ReadonlyMap<string, NodeResult>> {
  const results = new Map<string, NodeResult>();
  const paths = new Map<string, string | undefined>();
  let chars = 0;
  const note = (path: NodePath, at: number, result: NodeResult['result'] | undefined): void => {
    if (!paths.has(path)) paths.set(path, definitionPathOf(plan, path));
    const known = paths.get(path);
    if (known === undefined) return;
    results.delete(known);
    if (result !== undefined) results.set(known, { path, at, result });
  };
  for await (const { at, entries, chars: read } of frames) {
    for (const entry of entries) {
      if (entry.type === 'node.completed') {
        note(entry.node, at, { status: 'completed', output: entry.output ?? NULL_VALUE });
      } else if (entry.type === 'node.failed') note(entry.node, at, { status: 'failed', error: entry.error });
      else if (entry.type === 'node.cancelled' || entry.type === 'node.unknown') note(entry.node, at, undefined);
      else if (entry.type === 'node.skipped') for (const node of entry.nodes) note(node, at, { status: 'skipped' });
    }
    chars += read;
    if (chars < UNPAUSED_CHARS) continue;
    chars = 0;
    // A long loop has as many paths as iterations.
    paths.clear();
    await pause(clock);
  }
  return results;
}

/** The output, or the beginning of its text. A blob is the text. */
export async function shownOutput(
  { value, blob }: StoredValue,
  maxChars: number,
  read: (sha256: string) => Promise<Uint8Array | undefined>,
): Promise<NonNullable<ResultItem['output']>> {
  if (blob === undefined) {
    const text = JSON.stringify(value ?? null);
    const bytes = new TextEncoder().encode(text).length;
    return text.length > maxChars ? { bytes, preview: text.slice(0, maxChars) } : { bytes, value: value ?? null };
  }
  const data = (await read(blob.sha256)) ?? new Uint8Array();
  return { bytes: blob.bytes, preview: new TextDecoder().decode(data.subarray(0, maxChars)) };
}

/** The results as pins. Rejects with `TOO_LARGE` before it reads more than `maxBytes`. */
export async function pinsOf(
  results: ReadonlyMap<string, NodeResult>,
  wanted: Iterable<string>,
  read: (stored: StoredValue) => Promise<Json>,
  maxBytes: number,
): Promise<Record<string, Pin>> {
  const pins: Record<string, Pin> = Object.create(null);
  let left = maxBytes;
  for (const path of wanted) {
    const result = results.get(path)?.result;
    if (result === undefined) continue;
    if (result.status === 'completed') {
      left -= result.output.blob?.bytes ?? JSON.stringify(result.output.value).length;
      if (left < 0) throw tooLarge(path, maxBytes);
      pins[path] = { output: await read(result.output) };
    } else if (result.status === 'skipped') pins[path] = { skipped: true };
    else {
      const { code, message, details } = result.error;
      pins[path] = { error: { code, message, ...(details !== undefined && { details }) } };
    }
  }
  return pins;
}

function tooLarge(path: string, maxBytes: number): NebulaError {
  const message = `The output of '${path}' and those before it have more than ${maxBytes / 1024} KiB.`;
  return new NebulaError('TOO_LARGE', message, { hint: `Pin '${path}' to a smaller output.` });
}
