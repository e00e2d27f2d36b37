/** The engine of this server, and the tasks that wait. */
import { type Handlers, ok } from '../http/handler.ts';
import type { EngineParts } from '../parts.ts';

const MAX_ROUTES = 1_000;

export function fleetRoutes({ engine }: EngineParts) {
  return {
    async getFleet() {
      const { queue, ...figures } = await engine.figures();
      const routes = Array.from(queue.waiting, ([route, waiting]) => ({ route, waiting }));
      return ok({ engine: figures, queue: { depth: queue.depth, routes: routes.slice(0, MAX_ROUTES) } });
    },
  } satisfies Partial<Handlers>;
}
