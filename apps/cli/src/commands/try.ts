/** `nebula try`: a test run of a file, or of a part of it. */
import { isJsonObject, type Json, NebulaError, pinWorkflows } from '@nebula/core';
import { realRandom } from '@nebula/drivers/real';
import { definedMembers, inProject, textOption, textsOption } from '../command-options.ts';
import { printGrants } from '../grants.ts';
import { jsonOption } from '../input.ts';
import { runnableHere } from '../jobs-file.ts';
import { locationOf } from '../location.ts';
import type { Call, Command, ProjectCall } from '../services.ts';
import { type LoadedWorkflow, loadWorkflow, registerAll } from '../workflow-file.ts';
import { inputOf, startWatched, withWork } from './run.ts';

export const execute: Command = async (call, [file = '']) => {
  const { options, services } = call;
  const project = await services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
  const workflow = await loadWorkflow(call, project, file, inProject(options).project);
  const input = await inputOf(call);
  return await tryWorkflow({ ...call, project }, workflow, input, await pinsOf(call));
};

async function tryWorkflow(call: ProjectCall, workflow: LoadedWorkflow, input: Json, pins: Pins): Promise<number> {
  const { project, options } = call;
  workflow.checkInput(input);
  return await withWork(call, { makesFolder: true, checks: workflow.checks }, async (open) => {
    const { api, session } = open;
    const { others, folder, texts } = workflow;
    const isHere = session.server === undefined;
    const definition = isHere ? runnableHere(workflow.definition, project.config.labels) : workflow.definition;
    if (options.json !== true && options.quiet !== true) await printGrants(open, definition);
    const executionId = realRandom().id('exe');
    const find = (id: string) => others.find((other) => other.id === id);
    const run = { executionId, definition, find, title: `${definition.name ?? definition.id} (test)`, folder };
    const part = definedMembers({
      until: textOption(options, 'until'),
      only: textOption(options, 'only'),
      from: textOption(options, 'from'),
    });
    return await startWatched(open, run, async () => {
      const versions = new Map<string, number>();
      // The workflows that it uses are registered, as by `nebula run`; the file itself is not.
      for (const [at, other] of others.entries()) {
        const how = { activate: false, texts, ...inProject(options) };
        const { workflowId, version } = await registerAll(api, others.slice(0, at), other, how);
        versions.set(workflowId, version);
      }
      const pinned = pinWorkflows(definition, (id) => versions.get(id)) as unknown as Json;
      const given = Object.keys(pins).length === 0 ? {} : { pins };
      const body = { definition: pinned, executionId, input, ...part, ...given, ...inProject(options) };
      return (await api.call('startTest', { body })).executionId;
    });
  });
}

type Pins = Record<string, { readonly output: Json } | { readonly error: { code: string; message: string } }>;

/** Pins of `--pins`, then those of `--pin` and `--pin-error`. */
async function pinsOf(call: Call): Promise<Pins> {
  const { options } = call;
  const whole = await jsonOption(call, 'pins');
  if (whole !== undefined && !isJsonObject(whole)) {
    throw new NebulaError('USAGE', '--pins is not an object', {
      hint: 'by node: {"charge": {"output": {"id": 7}}, "ship": {"error": {"code": "LATE", "message": "…"}}}',
    });
  }
  const pins = { ...whole } as Pins;
  for (const text of textsOption(options, 'pin') ?? []) {
    const [node, value] = assigned(text, '--pin', 'charge={"id": 7}');
    pins[node] = { output: jsonOr(value) };
  }
  for (const text of textsOption(options, 'pinError') ?? []) {
    const [node, value] = assigned(text, '--pin-error', 'charge=NO_FUNDS');
    const [code = '', ...message] = value.split(':');
    pins[node] = { error: { code: code.trim(), message: message.join(':').trim() || `pinned error of ${node}` } };
  }
  return pins;
}

function assigned(text: string, flag: string, example: string): [string, string] {
  const cut = text.indexOf('=');
  if (cut > 0) return [text.slice(0, cut), text.slice(cut + 1)];
  throw new NebulaError('USAGE', `${flag} ${text.slice(0, 80)}: not of the form NODE=VALUE`, {
    hint: `e.g. ${flag} ${example}`,
  });
}

/** Text that is not JSON stays text. */
function jsonOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
