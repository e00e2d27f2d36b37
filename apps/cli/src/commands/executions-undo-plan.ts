import type { RunStatus, WorkflowDefinition } from '@nebula/core';
import { writeLines } from '../conclude.ts';
import { documentOf, withDesk } from '../desk.ts';
import { factsOf, type RunFacts } from '../run-facts.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { jsonDocument } from '../views/json.ts';
import { type UndoStep, undoPlanLines } from '../views/undo-plan.ts';
import type { FindWorkflow } from '../views/workflow-graph.ts';
import { registeredWorkflows } from '../workflow-folder.ts';

/** What would be undone, in which order, if the run failed or were cancelled now. */
export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    const { status, workflowId, version } = await documentOf(session, project, executionId);
    const facts = factsOf(await session.desk.journal(executionId));
    const definition = await session.definition(workflowId, version);
    const steps = stepsOf(facts, definition, await registeredWorkflows(session, definition));
    // A run that has completed undoes nothing any more.
    const toUndo = WITHOUT_UNDO.has(status) ? [] : steps;
    if (options.json === true) out.write(jsonDocument({ executionId, status, toUndo, undone: facts.undone }));
    else writeLines(out, undoPlanLines(status, toUndo, facts.undone, { colors: out.colors, width: readingWidth(out) }));
    return 0;
  });
}

const WITHOUT_UNDO: ReadonlySet<RunStatus> = new Set(['completed', 'cancelled', 'failed', 'timed-out']);

function stepsOf({ toUndo }: RunFacts, definition: WorkflowDefinition | undefined, find: FindWorkflow): UndoStep[] {
  return toUndo.map(({ node, with: input, problem }) => ({
    node,
    action: definition === undefined ? null : actionAt(definition, node, find),
    with: input ?? null,
    problem,
  }));
}

/** Null where it is in a graph that an action made. */
function actionAt(definition: WorkflowDefinition, path: string, find: FindWorkflow): string | null {
  const steps = path.split('/');
  let body: Pick<WorkflowDefinition, 'nodes'> | undefined = definition;
  for (let at = 0; at < steps.length && body !== undefined; at++) {
    const node: NonNullable<WorkflowDefinition['nodes']>[string] | undefined = body.nodes?.[steps[at] as string];
    if (at === steps.length - 1) return node?.compensate?.action ?? null;
    if (node?.workflow !== undefined) body = find(node.workflow.id, node.workflow.version);
    else {
      body = node?.do;
      // The number of the round.
      at++;
    }
  }
  return null;
}
