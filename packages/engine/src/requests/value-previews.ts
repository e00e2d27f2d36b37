/** Values of a run or of one of its nodes, for people: a large one is cut, so that no page loads it as a whole. */
import type { ExecutionId, Json } from '@nebula/core';
import {
  exceedsBytes,
  idempotencyKey,
  type NodeState,
  pathOf,
  type RunState,
  runOutput,
  type StoredValue,
} from '@nebula/core/run';
import type { Blobs } from '@nebula/ports';
import type { RunValues, ValuePreview } from '../api.ts';

/** Values up to this size are given as a whole. */
const WHOLE_BYTES = 64 * 1024;
const BEGINNING_CHARS = 16 * 1024;

export async function valuesOfNode(blobs: Blobs, state: RunState, node: NodeState): Promise<RunValues> {
  const { executionId } = state;
  const { phase } = node;
  const isCompleted = phase.status === 'completed';
  return {
    input: await preview(blobs, executionId, node.input),
    output: isCompleted ? await preview(blobs, executionId, node.output) : null,
    idempotencyKey: node.attempts === 0 ? null : idempotencyKey(state, pathOf(node)),
    cached: isCompleted && phase.cached !== undefined,
  };
}

export async function valuesOfRun(blobs: Blobs, state: RunState): Promise<RunValues> {
  const { executionId, root } = state;
  const { input, vars } = root.realm;
  const variables: Record<string, Json> = {};
  for (const [name, stored] of vars)
    variables[name] = stored.blob === undefined ? stored.value : `(${stored.blob.bytes} bytes)`;
  return {
    input: await preview(blobs, executionId, input),
    output: state.phase.status === 'completed' ? await preview(blobs, executionId, runOutput(state)) : null,
    variables: previewOf(variables),
  };
}

async function preview(
  blobs: Blobs,
  executionId: ExecutionId,
  stored: StoredValue | undefined,
): Promise<ValuePreview | null> {
  if (stored === undefined) return null;
  if (stored.blob === undefined) return previewOf(stored.value);
  const { sha256, bytes } = stored.blob;
  const data = await blobs.get(executionId, sha256);
  if (data === undefined) return { bytes, beginning: '', sha256 };
  const beginning = new TextDecoder().decode(data.subarray(0, BEGINNING_CHARS));
  return bytes <= WHOLE_BYTES
    ? { bytes, value: JSON.parse(new TextDecoder().decode(data)) as Json }
    : { bytes, beginning, sha256 };
}

function previewOf(value: Json): ValuePreview {
  if (!exceedsBytes(value, WHOLE_BYTES)) return { bytes: JSON.stringify(value).length, value };
  const text = JSON.stringify(value);
  return { bytes: text.length, beginning: text.slice(0, BEGINNING_CHARS) };
}
