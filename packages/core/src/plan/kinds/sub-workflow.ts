/** Compiles nodes that run another workflow, inline or as a child run. */
import type { SubWorkflowDefinition, WorkflowDefinition } from '../../definition/model.ts';
import { DEFINITION_LIMITS } from '../../limits.ts';
import { didYouMean } from '../../problem.ts';
import type { Steps } from '../../steps.ts';
import type { JsonSchema } from '../../value.ts';
import type { CompiledInside } from '../context.ts';
import type { NodeReader } from '../node-reader.ts';
import { checkWorkflowInput } from '../parameters.ts';
import type { ChildWork, InlineWork } from '../plan.ts';
import { schemaOfValue } from '../value-schema.ts';

export function* subWorkflowWork(
  reader: NodeReader,
  sub: SubWorkflowDefinition,
): Steps<{ readonly work: InlineWork | ChildWork | undefined; readonly output?: JsonSchema | undefined }> {
  const { context, path, scope } = reader.parts;
  const input = reader.value(sub.input, ['workflow', 'input']);
  const output = reader.value(sub.output, ['workflow', 'output'], { self: true, after: true });
  const { id } = sub;
  const isInline = sub.mode !== 'child' && id !== undefined;
  const named = id === undefined ? undefined : { ...sub, id };
  const isFound = named !== undefined && !(isInline && isRecursive(reader, named));
  const definition = isFound ? find(reader, named, isInline) : undefined;
  if (definition !== undefined) {
    checkWorkflowInput(context.problems, definition, sub.input ?? {}, [...path, 'workflow', 'input']);
  }
  const schemaWith = (self: JsonSchema | undefined): JsonSchema | undefined =>
    sub.output === undefined ? self : schemaOfValue(sub.output, { scope, input: context.definition.input, self });
  if (!isInline) {
    const { bound } = context;
    const work = {
      kind: 'child',
      workflowId: sub.id,
      launchPlan: sub.plan,
      version: sub.version,
      input,
      output,
      bound,
    } as const;
    return { work, output: schemaWith(undefined) };
  }
  if (definition !== undefined) checkConfig(reader, definition);
  const inside = definition && (yield* compileInline(reader, definition));
  const workflow = inside?.plan;
  if (workflow === undefined) return { work: undefined };
  const work = { kind: 'inline', workflow, input, output, isolation: sub.isolation ?? 'isolated' } as const;
  return { work, output: schemaWith(inside?.output) };
}

type Named = SubWorkflowDefinition & { readonly id: string };

function isRecursive(reader: NodeReader, sub: Named): boolean {
  const { around } = reader.parts.context.workflows;
  if (around.length > DEFINITION_LIMITS.maxBodyDepth) {
    const message = `workflows are inlined deeper than ${DEFINITION_LIMITS.maxBodyDepth} levels`;
    reader.error('TOO_DEEP', message, 'use mode: child, which starts a separate run', ['workflow', 'id']);
    return true;
  }
  if (!around.includes(sub.id)) return false;
  const way = [...around.slice(around.indexOf(sub.id)), sub.id].join(' → ');
  const message = `the workflow '${sub.id}' would contain itself: ${way}`;
  reader.error('INLINE_RECURSION', message, 'use mode: child, which starts a separate run', ['workflow', 'id']);
  return true;
}

function find(reader: NodeReader, sub: Named, isInline: boolean): WorkflowDefinition | undefined {
  const { workflows } = reader.parts.context;
  const found = workflows.find(sub.id, sub.version);
  if (found !== undefined || (!isInline && !workflows.isKnown)) return found;
  const near = didYouMean(sub.id, workflows.ids);
  const version = sub.version === undefined || !workflows.ids.includes(sub.id) ? '' : ` in version ${sub.version}`;
  const some = workflows.ids.slice(0, 8).join(', ');
  const hint =
    near !== undefined && version === ''
      ? `did you mean '${near}'?`
      : some === ''
        ? 'register it first'
        : `available workflows: ${some}`;
  const message = `there is no workflow '${sub.id}'${version}`;
  if (isInline) reader.error('UNKNOWN_WORKFLOW', message, hint, ['workflow', 'id']);
  else
    reader.warning('UNKNOWN_WORKFLOW', message, `${hint}; the workflow must exist when the node runs`, [
      'workflow',
      'id',
    ]);
  return undefined;
}

/** Reports settings of the inlined workflow that apply to whole runs only and have no effect here. */
function checkConfig(reader: NodeReader, { id, config = {} }: WorkflowDefinition): void {
  if (config.failureNode !== undefined) {
    const message = `'${id}' has a failure node, which works only in a separate run`;
    const hint = 'use mode: child, or remove the failure node and add an error edge to this node';
    reader.error('INLINE_CONFIG', message, hint, ['workflow', 'id']);
  }
  const { mode = 'parallel' } = reader.parts.context.definition.config ?? {};
  const ignored = RUN_ONLY.filter((key) => config[key] !== undefined && !(key === 'mode' && config.mode === mode));
  if (ignored.length === 0) return;
  const names = ignored.map((key) => `config.${key}`).join(', ');
  const message = `${names} of '${id}' ${ignored.length === 1 ? 'has' : 'have'} no effect inside another run`;
  reader.warning('INLINE_CONFIG', message, 'use mode: child, or set it for this workflow', ['workflow', 'id']);
}

/**
 * Settings that apply to whole runs. The others also work inline: onFailure, retry, timeout, priority and capabilities.
 */
const RUN_ONLY = ['mode', 'maxParallelism', 'maxTotalRetries', 'retention', 'start'] as const;

function* compileInline(reader: NodeReader, definition: WorkflowDefinition): Steps<CompiledInside> {
  const inside = yield* reader.parts.context.workflows.compile(definition);
  const { problem } = inside;
  if (problem !== undefined) {
    const message = `the workflow '${definition.id}' has errors: ${problem}`;
    reader.error('BROKEN_WORKFLOW', message, 'fix that workflow first', ['workflow', 'id']);
  }
  return inside;
}
