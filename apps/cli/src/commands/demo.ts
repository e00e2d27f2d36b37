import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOption } from '../command-options.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { nextLines } from '../views/summary.ts';
import { loadWorkflow } from '../workflow-file.ts';
import { runWorkflow } from './run.ts';

/** The examples with their configuration, as the build puts them into the package: there they are only copied from. */
const PACKAGED = fileURLToPath(new URL('../../demo/', import.meta.url));
const CLONE = fileURLToPath(new URL('../../../../', import.meta.url));
const COPY = 'nebula-demo';
const EXAMPLE = 'examples/order.yaml';

/** One workflow, to see what a run looks like. */
export async function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io, program } = context;
  const isInstalled = existsSync(PACKAGED);
  const file = path.join(isInstalled ? copied(path.join(io.cwd, COPY)) : CLONE, EXAMPLE);
  const dataDir = textOption(options, 'dataDir');
  const project = await context.services.openProject({ file, ...(dataDir !== undefined && { dataDir }) });
  const workflow = await loadWorkflow(context, project, file);
  const shown = path.relative(io.cwd, file);
  const again = isInstalled ? EXAMPLE : shown;
  const { colors } = io.out;
  writeLines(io.out, [
    `${colors.bold('This is Nebula.')} It runs ${colors.bold(shown)}: ${workflow.definition.description ?? workflow.definition.name}`,
    '',
  ]);
  const exitCode = await runWorkflow(context, project, workflow, {}, options);
  writeLines(io.out, [
    '',
    ...nextLines(
      [
        ...(isInstalled ? ([[`cd ${COPY}`, 'the examples are yours']] as const) : []),
        [`${program} run ${again}`, 'run it again; press Ctrl-C in the middle, then:'],
        [`${program} resume`, 'nothing finished is done twice'],
        [`${program} graph ${again}`, 'see its shape'],
        [`${program} executions list`, 'look at what has run'],
        [`${program} init my-project`, 'begin your own'],
      ],
      { colors, width: io.out.columns() },
    ),
  ]);
  return exitCode;
}

/** Files that are there already stay as they are. */
function copied(folder: string): string {
  cpSync(PACKAGED, folder, { recursive: true, force: false });
  return folder;
}
