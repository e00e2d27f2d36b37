import { JOB_ACTION, JOB_FAILED, jobCommand } from '@nebula/core/authoring';
import { ActionError, defineAction } from '@nebula/sdk';

/** Maximum size of stdout and of stderr each that is logged. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Runs workflow-graph jobs in this process, for users without a workflow-graph worker. */
export const workflowGraphJob = defineAction({
  ...JOB_ACTION,
  effect: 'idempotent',
  capabilities: ['shell'],
  async run(ctx, input) {
    const { exitCode, stdout, stderr } = await ctx.shell('sh', ['-c', jobCommand(input)], {
      maxOutputBytes: MAX_OUTPUT_BYTES,
    });
    for (const line of linesOf(stdout)) ctx.log.info(line);
    for (const line of linesOf(stderr)) ctx.log.warn(line);
    if (exitCode === 0) return {};
    const said = linesOf(stderr).at(-1) ?? linesOf(stdout).at(-1);
    throw new ActionError(`exit code ${exitCode}${said === undefined ? '' : `: ${said.slice(0, 500)}`}`, {
      code: JOB_FAILED,
      details: { exitCode },
    });
  },
});

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
