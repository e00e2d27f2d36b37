/** The projects, users and files for the hostile workflows. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Action } from '@nebula/core';
import { type Booted, type BootOptions, boot } from '../support/boot.ts';
import { addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const graph: Action = {
  id: 'test.graph',
  version: '1',
  effect: 'pure',
  run: (_ctx, input) => (input as { graph: null }).graph,
};
const tell: Action = {
  id: 'test.tell',
  version: '1',
  effect: 'pure',
  run: async (ctx) => [...(await ctx.credential('key'))].reverse().join(''),
};

const WIDEST = { shell: ['*'], files: { read: ['*', '/**'], write: ['*', '/**'] }, network: ['*'], env: ['*'] };

export interface RunStage {
  readonly booted: Booted;
  /** Headers of the owner and the editor of each project. */
  readonly as: Record<string, Headers>;
}

/** `projectDir` is empty, and an absolute path without links. */
export async function runStage(
  projectDir: string,
  secret: string,
  { actions = [], ...options }: BootOptions = {},
): Promise<RunStage> {
  for (const folder of ['workflows', '.nebula']) mkdirSync(path.join(projectDir, folder));
  for (const file of ['nebula.config.ts', '.nebula/token']) writeFileSync(path.join(projectDir, file), 'as it was');
  symlinkSync(path.join(projectDir, 'workflows'), path.join(projectDir, 'elsewhere'));
  const watched = path.join(projectDir, 'workflows');
  const booted = await boot({
    ...options,
    users: true,
    actions: [graph, tell, ...actions],
    sandbox: {
      projectDir,
      dataDir: path.join(projectDir, '.nebula'),
      reserved: (file) =>
        file === path.join(projectDir, 'nebula.config.ts') || file.startsWith(watched) ? 'it is reserved' : undefined,
    },
  });
  const as: Record<string, Headers> = {};
  for (const project of ['alpha', 'wide', 'bare', 'beta']) {
    await addProject(booted, project);
    await addUser(booted, project, { roles: { [project]: 'owner' } });
    await addUser(booted, `${project}-editor`, { roles: { [project]: 'editor' } });
    as[project] = await signIn(booted, project);
    as[`${project}-editor`] = await signIn(booted, `${project}-editor`);
  }
  const must = async (who: string, line: string, body: unknown): Promise<void> => {
    const answer = await ask(booted, line.replace(' /', ' /api/v1/'), { headers: as[who] as Headers, body });
    if (answer.status >= 300) throw new Error(`${who} ${line}: ${answer.text}`);
  };
  await must('alpha', 'PUT /projects/alpha', { ceiling: WIDEST });
  await must('wide', 'PUT /projects/wide', { ceiling: 'all' });
  await must('beta', 'POST /workflows', { definition: echo('beta-private'), project: 'beta' });
  await must('beta', 'PUT /plans/beta-plan', { workflowId: 'beta-private' });
  await must('beta', 'PUT /secrets/press?project=beta', { value: secret });
  return { booted, as };
}
