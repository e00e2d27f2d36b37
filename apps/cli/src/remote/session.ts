/** A server as a session of commands. */
import type { NebulaClient } from '@nebula/client';
import { type Action, type Catalog, createCatalog } from '@nebula/core';
import { realRandom, sha256 } from '@nebula/drivers/real';
import { keyedExecutionId } from '@nebula/engine';
import type { EngineSession, Project, ServerPlace } from '../services.ts';
import { asked, connectPatiently } from './connection.ts';
import { remoteDeskSession } from './desk.ts';
import { remoteEngine } from './engine.ts';

export function remoteEngineSession(place: Pick<ServerPlace, 'url' | 'token'>): EngineSession {
  let onAway: (error: unknown) => void = () => undefined;
  const client = connectPatiently(place, (error) => onAway(error));
  const engine = remoteEngine(client, (tell) => {
    onAway = tell;
  });
  const random = realRandom();
  return {
    ...remoteDeskSession(client),
    desk: engine,
    engine,
    newExecutionId: () => random.id('exe'),
    keyedExecutionId: (workflowId, key) => keyedExecutionId(sha256, workflowId, key),
    close: () => engine.close(),
  };
}

/** What workflows may name there. They cannot be run here. */
export async function remoteActions(client: NebulaClient): Promise<readonly Action[]> {
  const actions: Action[] = [];
  const all = client.all('listActions', { query: { limit: 1_000 } });
  for (let next = await asked(all.next()); next.done !== true; next = await asked(all.next())) {
    const { id, version, title, description, input, output, effect, capabilities } = next.value;
    actions.push({
      id,
      version,
      ...(title !== null && { title }),
      ...(description !== null && { description }),
      ...(input !== null && { input }),
      ...(output !== null && { output }),
      effect: effect === 'pure' || effect === 'idempotent' ? effect : 'once',
      capabilities,
      run: () => Promise.reject(new Error(`${id} runs at the server`)),
    } as unknown as Action);
  }
  return actions;
}

/** Retry policies are code: those of the project here stand for those of the server, which has the last word. */
export async function remoteCatalog(client: NebulaClient, { config }: Project): Promise<Catalog> {
  return createCatalog(await remoteActions(client), config.retryPolicies, config.capabilities);
}
