import { writeLines } from '../conclude.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';
import { plural } from '../views/words.ts';
import { allProblems, type CheckedFile, checkFile, reportLines } from '../workflow-file.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io, services } = context;
  const checked: CheckedFile[] = [];
  for (const file of args) {
    // Files of different projects have different actions.
    const project = await services.openProject(file === '-' ? {} : { file });
    checked.push(await checkFile(context, project, file));
  }
  const isValid = checked.every(({ definition }) => definition !== undefined);
  if (options.json === true) io.out.write(jsonDocument({ valid: isValid, files: checked.map(fileDocument) }));
  else for (const one of checked) writeLines(io.out, fileLines(context, one));
  return isValid ? EXIT.completed : EXIT.invalid;
}

function fileDocument(checked: CheckedFile): Record<string, unknown> {
  const { file, definition } = checked;
  return {
    file,
    valid: definition !== undefined,
    ...(definition !== undefined && { workflowId: definition.id, nodes: Object.keys(definition.nodes ?? {}).length }),
    problems: allProblems(checked),
  };
}

function fileLines({ io }: Context, checked: CheckedFile): string[] {
  const { colors } = io.out;
  const { definition } = checked;
  const file = printableLine(checked.file);
  const report = reportLines(checked, colors);
  if (definition === undefined) return [...report, `${colors.red('✗')} ${file}`, ''];
  const nodes = plural(Object.keys(definition.nodes ?? {}).length, 'node');
  return [...report, `${colors.green('✓')} ${file}  ${colors.dim(`${definition.id}, ${nodes}`)}`];
}
