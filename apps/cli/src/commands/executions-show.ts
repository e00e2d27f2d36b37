import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, withDesk } from '../desk.ts';
import { RunProgress } from '../live/progress.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { outlineOf } from '../views/outline.ts';
import { summaryLines } from '../views/summary.ts';
import { treeLines } from '../views/tree.ts';
import { graphOf } from '../views/workflow-graph.ts';

/** Graphs with more nodes are folded unless `--all` is given. */
const MAX_ROWS = 200;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    if (options.json === true) {
      io.out.write(jsonDocument(document));
      return 0;
    }
    const definition = await session.definition(document.workflowId, document.version);
    const title = `${definition?.name ?? document.workflowId} v${document.version}`;
    const run = new RunProgress(executionId, title, definition === undefined ? [] : outlineOf(graphOf(definition)));
    run.sync(document);
    const view = { colors: io.out.colors, width: io.out.columns() };
    const height = options.all === true ? {} : { height: MAX_ROWS };
    writeLines(io.out, treeLines(run, { ...view, ...height, now: io.now(), frame: -1 }));
    if (options.all !== true && run.nodes.length > MAX_ROWS)
      writeLines(io.out, [view.colors.dim('--all shows every node')]);
    if (document.finishedAt === null) return 0;
    const command = commandWriter(context, project, executionId);
    writeLines(io.out, ['', ...summaryLines(document, { ...view, command, isUnderTree: true })]);
    return 0;
  });
}
