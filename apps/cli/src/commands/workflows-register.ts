import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { locationOf, locationText } from '../location.ts';
import { registerAll } from '../register.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow-file.ts';

/** Checks all files before it stores the first. */
export async function execute(context: Context, files: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const activate = options.activate !== false;
  const place = await context.services.openProject(locationOf(options));
  const loaded: LoadedWorkflow[] = [];
  for (const file of files) {
    const project = await context.services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
    loaded.push(await loadWorkflow(context, { ...project, dataDir: place.dataDir, server: place.server }, file));
  }
  return await withApi(
    context,
    options,
    'change',
    async ({ api }, project) => {
      const done: { workflowId: string; version: number; created: boolean; active: boolean }[] = [];
      for (const { definition, others } of loaded) {
        const how = { activate, ...inProject(options) };
        const { workflowId, version, created, active } = await registerAll(api, others, definition, how);
        done.push({ workflowId, version, created, active });
        if (options.json === true) continue;
        const { colors } = io.out;
        const news = created ? 'is new' : 'is unchanged';
        const state = active ? 'active' : 'not active';
        writeLines(io.out, [`${colors.green('✓')} ${workflowId} ${colors.dim(`v${version}`)} ${news}, ${state}`]);
      }
      if (options.json === true) io.out.write(jsonDocument({ place: locationText(project), workflows: done }));
      return 0;
    },
    { makesFolder: true },
  );
}
