/** Compiles nodes that change the run itself: its variables, or its end. */
import type { CompiledValue, ValueReference } from '../../expression/index.ts';
import type { NodeReader } from '../node-reader.ts';
import type { SetWork, TerminateWork } from '../plan.ts';
import { isAroundParallelLoops, isInParallelLoop } from '../scope.ts';
import { assignmentsIn } from '../variables.ts';

export function setWork(reader: NodeReader): SetWork {
  const { definition, scope } = reader.parts;
  const values = new Map<string, CompiledValue>();
  for (const [name, raw] of Object.entries(definition.set ?? {})) {
    values.set(name, reader.value(raw, ['set', name]));
  }
  const contested = isInParallelLoop(scope) ? [...values].filter((one) => !isSameInAnyOrder(reader, ...one)) : [];
  if (contested.length > 0) {
    const names = contested.map(([name]) => `'${name}'`).join(', ');
    const message = `parallel iterations assign ${names}, so the result depends on their order`;
    reader.warning(
      'SET_IN_PARALLEL',
      message,
      'use the output of the loop, or run its iterations sequentially',
      ['set'],
      'key',
    );
  }
  return { kind: 'set', values };
}

const SAME_EVERYWHERE: readonly ValueReference['kind'][] = ['input', 'trigger', 'execution', 'workflow'];

/**
 * True for an assignment whose order does not matter, such as a counter or a flag. A `set` reads and assigns in one
 * step. If it is the only one for its variable, and reads nothing else that differs between iterations, every iteration
 * does the same to the variable.
 */
function isSameInAnyOrder({ parts: { context, scope } }: NodeReader, name: string, value: CompiledValue): boolean {
  const assignments = assignmentsIn(context.definition);
  if (assignments?.get(name) !== 1) return false;
  return value.references.every((reference) => {
    if (reference.kind === 'node') return isAroundParallelLoops(scope, reference.id);
    if (reference.kind !== 'vars') return SAME_EVERYWHERE.includes(reference.kind);
    return reference.path[0] === name || (reference.path.length > 0 && !assignments.has(String(reference.path[0])));
  });
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
