/** The actions of a server. They cannot be run here. */
import type { AnswerOf, NebulaClient } from '@nebula/client';
import { type Action, type DefinitionChecks, definitionChecks } from '@nebula/core';
import { definedMembers } from '../command-options.ts';
import type { Project } from '../services.ts';

export async function remoteActions(client: NebulaClient): Promise<readonly Action[]> {
  const actions: Action[] = [];
  for await (const one of client.all('listActions', { query: { limit: 1_000 } })) actions.push(actionOf(one));
  return actions;
}

/** Builds an action from the server's document. */
function actionOf(document: AnswerOf<'getAction'>): Action {
  const { id, version, title, description, input, output, effect, capabilities } = document;
  return {
    id,
    version,
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(input !== null && { input }),
    ...(output !== null && { output }),
    effect: effect === 'pure' || effect === 'idempotent' ? effect : 'once',
    capabilities,
    run: () => Promise.reject(new Error(`${id} runs at the server`)),
  } as unknown as Action;
}

/** Retry policies are code: those of the local project stand for those of the server, which decides. */
export async function remoteChecks(client: NebulaClient, { config }: Project): Promise<DefinitionChecks> {
  const { retryPolicies, capabilities } = config;
  const actions = await remoteActions(client);
  return definitionChecks({ actions, ...definedMembers({ retryPolicies, capabilities }) });
}
