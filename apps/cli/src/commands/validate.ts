import { ApiError } from '@nebula/client';
import {
  askedBy,
  type Ceiling,
  isNothing,
  NebulaError,
  usedWorkflows,
  type WorkflowDefinition,
  workflowJsonSchema,
} from '@nebula/core';
import { EXIT } from '../exit-code.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import type { Command, Context, Project } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';
import { plural } from '../views/words.ts';
import { allProblems, type CheckedFile, checkFile, reportLines } from '../workflow-file.ts';

export const execute: Command = async (call, args) => {
  const { services, options } = call;
  const checked: CheckedFile[] = [];
  for (const file of args) {
    // Each file is checked against the actions of its own project.
    const project = await services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
    checked.push(
      await checkFile(call, project, file, { ceilingOf: (definition) => ceilingOf(call, project, definition) }),
    );
  }
  const accepts = (one: CheckedFile): boolean =>
    one.definition !== undefined && (options.strict !== true || allProblems(one).length === 0);
  const isValid = checked.every(accepts);
  const documents = checked.map((one) => fileDocument(one, accepts(one)));
  print(call, { valid: isValid, files: documents }, () => checked.flatMap((one) => fileLines(call, one, accepts(one))));
  return isValid ? EXIT.completed : EXIT.invalid;
};

/** The ceiling of the project that the workflow belongs to, or would belong to; `all` if the caller may not know it. */
async function ceilingOf({ services }: Context, project: Project, definition: WorkflowDefinition): Promise<Ceiling> {
  if (isNothing(askedBy(definition)) && usedWorkflows(definition).length === 0) return 'all';
  const any = { id: definition.id, nodes: { a: { action: 'core.noop' } } };
  try {
    const session = await services.openApi(project, 'read', { orEmpty: true });
    try {
      return (await session.api.call('validateWorkflow', { body: { definition: any } })).ceiling as Ceiling;
    } finally {
      await session.close();
    }
  } catch (error) {
    if (error instanceof NebulaError || error instanceof ApiError) return 'all';
    throw error;
  }
}

function fileDocument(checked: CheckedFile, isValid: boolean): Record<string, unknown> {
  const { file, definition } = checked;
  return {
    file,
    valid: isValid,
    ...(definition !== undefined && { workflowId: definition.id, nodes: Object.keys(definition.nodes ?? {}).length }),
    problems: allProblems(checked),
  };
}

function fileLines({ io }: Context, checked: CheckedFile, isValid: boolean): string[] {
  const { colors } = io.out;
  const { definition } = checked;
  const file = printableLine(checked.file);
  const report = reportLines(checked, colors);
  if (definition === undefined || !isValid) return [...report, `${colors.red('✗')} ${file}`, ''];
  const nodes = plural(Object.keys(definition.nodes ?? {}).length, 'node');
  return [...report, `${colors.green('✓')} ${file}  ${colors.dim(`${definition.id}, ${nodes}`)}`];
}

/** `nebula schema`. */
export const schema: Command = async ({ io, services }) => {
  const actions = await services.actions(await services.openProject({}));
  io.out.write(jsonDocument(workflowJsonSchema(actions)));
  return 0;
};
