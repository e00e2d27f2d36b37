/** Nodes that change the run itself: its variables, or its end. */
import type { CompiledValue } from '../../expression/index.ts';
import type { NodeReader } from '../node-reader.ts';
import type { SetWork, TerminateWork } from '../plan.ts';
import { isInParallelLoop } from '../scope.ts';

export function setWork(reader: NodeReader): SetWork {
  const { definition, scope } = reader.parts;
  if (isInParallelLoop(scope)) {
    const message = 'rounds that run at the same time assign the same variables: the last one wins';
    reader.warning('SET_IN_PARALLEL', message, 'use the output of the loop, or run it one by one', ['set'], 'key');
  }
  const values = new Map<string, CompiledValue>();
  for (const [name, raw] of Object.entries(definition.set ?? {})) {
    values.set(name, reader.value(raw, ['set', name]) as CompiledValue);
  }
  return { kind: 'set', values };
}

export function terminateWork(reader: NodeReader): TerminateWork {
  const { definition } = reader.parts;
  return {
    kind: 'terminate',
    status: definition.terminate ?? 'completed',
    output: reader.value(definition.with?.output, ['with', 'output']),
    error: reader.value(definition.with?.error, ['with', 'error']),
  };
}
