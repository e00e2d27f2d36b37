import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { definedMembers, textOption } from '../command-options.ts';
import { writeLines } from '../print.ts';
import type { Command } from '../services.ts';
import { nextLines } from '../views/summary.ts';
import { loadWorkflow } from '../workflow-file.ts';
import { runWorkflow } from './run.ts';

/** The examples that the build puts into the package. They are copied to the user's folder before they run. */
const PACKAGED = fileURLToPath(new URL('../../demo/', import.meta.url));
const CLONE = fileURLToPath(new URL('../../../../', import.meta.url));
const COPY = 'nebula-demo';
const EXAMPLE = 'examples/order.yaml';

/** Runs one example workflow. */
export const execute: Command = async (call) => {
  const { io, program, options } = call;
  const isInstalled = existsSync(PACKAGED);
  const file = path.join(isInstalled ? copied(path.join(io.cwd, COPY)) : CLONE, EXAMPLE);
  const dataDir = textOption(options, 'dataDir');
  const project = await call.services.openProject({ file, ...definedMembers({ dataDir }) });
  const workflow = await loadWorkflow(call, project, file);
  const shown = path.relative(io.cwd, file);
  const again = isInstalled ? EXAMPLE : shown;
  const { colors } = io.out;
  writeLines(io.out, [
    `${colors.bold('This is Nebula.')} It runs ${colors.bold(shown)}: ${workflow.definition.description ?? workflow.definition.name}`,
    '',
  ]);
  const exitCode = await runWorkflow({ ...call, project }, workflow, {});
  writeLines(io.out, [
    '',
    ...nextLines(
      [
        ...(isInstalled ? ([[`cd ${COPY}`, 'your copy of the examples']] as const) : []),
        [`${program} run ${again}`, 'run it again; press Ctrl-C in the middle, then:'],
        [`${program} resume`, 'continue; completed nodes do not run again'],
        [`${program} graph ${again}`, 'see its shape'],
        [`${program} executions list`, 'list the runs'],
        [`${program} init my-project`, 'create your own project'],
      ],
      { colors, width: io.out.columns() },
    ),
  ]);
  return exitCode;
};

/** Keeps existing files. */
function copied(folder: string): string {
  cpSync(PACKAGED, folder, { recursive: true, force: false });
  return folder;
}
