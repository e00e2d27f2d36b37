/**
 * Writes types for workflows in TypeScript. The workflows are those in the named files; without names, those in the
 * project's YAML files and those registered in its data folder, where a file wins over a registered version. Modules are
 * loaded only when named, because loading runs them.
 */
import { readdir, readFile as readText, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { NebulaError, type WorkflowDefinition } from '@nebula/core';
import { withSession, workflowIdsOf } from '../api.ts';
import { definedMembers, textOption } from '../command-options.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import { definitionOf } from '../runs.ts';
import type { Command, Context, ProjectCall } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { typeModule } from '../views/type-module.ts';
import { plural } from '../views/words.ts';
import { readFile, validDefinition } from '../workflow-file.ts';
import { isModule, loadModule } from '../workflow-module.ts';

const MAX_FILES = 1_000;
const MAX_DEPTH = 8;

export const execute: Command = async (call, args) => {
  const { io, services, options } = call;
  const project = await services.openProject({ ...definedMembers({ file: args[0] }), ...locationOf(options) });
  const actions = await services.actions(project);
  const workflows = distinct(
    args.length > 0
      ? await namedWorkflows(call, args)
      : [...(await foundWorkflows(call, project.dir)), ...(await registeredHere({ ...call, project }))],
  );
  const text = typeModule(actions, workflows);
  const out = textOption(options, 'out');
  if (out === undefined) {
    io.out.write(text);
    return 0;
  }
  const isChanged = await writeChanged(path.resolve(io.cwd, out), text, out);
  const document = { file: out, changed: isChanged, actions: actions.length, workflows: workflows.length };
  const what = `${plural(actions.length, 'action')}, ${plural(workflows.length, 'workflow')}`;
  return print(call, document, () => [`${printableLine(out)} ${isChanged ? 'written' : 'is up to date'}: ${what}`]);
};

async function namedWorkflows(context: Context, files: readonly string[]): Promise<WorkflowDefinition[]> {
  const found: WorkflowDefinition[] = [];
  for (const file of files) {
    if (isModule(file)) found.push((await loadModule(context.io, file)).definition);
    else found.push(validDefinition(context.io, await readFile(context.io, file)));
  }
  return found;
}

/** Skips YAML files that are not workflows without a message: projects have other YAML files. */
async function foundWorkflows({ io }: Context, dir: string): Promise<WorkflowDefinition[]> {
  const found: WorkflowDefinition[] = [];
  for (const file of await yamlFiles(dir, MAX_DEPTH)) {
    const { definition } = await readFile(io, file);
    if (definition !== undefined) found.push(definition);
  }
  return found;
}

/** The newest version of each registered workflow; none if the data folder does not exist yet. */
async function registeredHere(call: ProjectCall): Promise<WorkflowDefinition[]> {
  const session = await call.services.openApi(call.project, 'read', { orEmpty: true });
  return await withSession(call, session, async ({ api }) => {
    const found: WorkflowDefinition[] = [];
    for (const id of await workflowIdsOf(api)) {
      const definition = await definitionOf(api, id);
      if (definition !== undefined) found.push(definition);
    }
    return found;
  });
}

async function yamlFiles(dir: string, depth: number): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(dir, entry.name);
    const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
    if (entry.isDirectory() && !isHidden && depth > 0) files.push(...(await yamlFiles(file, depth - 1)));
    else if (entry.isFile() && /(?<!\.test)\.ya?ml$/.test(entry.name)) files.push(file);
  }
  return files.slice(0, MAX_FILES);
}

/** Keeps the first workflow of each id. */
function distinct(workflows: readonly WorkflowDefinition[]): WorkflowDefinition[] {
  return [...new Map([...workflows].reverse().map((one) => [one.id, one])).values()];
}

/** Writes only a changed text, so that file watchers are not triggered. */
async function writeChanged(file: string, text: string, shown: string): Promise<boolean> {
  if ((await readText(file, 'utf8').catch(() => undefined)) === text) return false;
  try {
    await writeFile(file, text);
    return true;
  } catch (error) {
    throw new NebulaError('FILE_UNWRITABLE', `${shown} cannot be written: ${(error as Error).message}`, {
      hint: 'give --out a path in a folder that exists',
      cause: error,
    });
  }
}
