/** Waits for runs to become quiescent, and lists the holders of permits. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import type { Waits } from '../waits.ts';

/** `isQuiescent` asks the engine of this process; without one, only the end of a run is known. */
export function quiescenceRoutes(
  { executions }: Parts,
  waits: Waits,
  isQuiescent: (executionId: string) => Promise<boolean> = async () => false,
): Pick<Handlers, 'awaitRest' | 'listPlaces'> {
  return {
    async awaitRest({ params: { executionId }, query: { wait }, signal }) {
      const rest = await waits.of(executionId, 'parked', wait, signal);
      return ok({
        executionId,
        settled: rest !== undefined,
        parked: rest?.parked ?? false,
        resting: await isQuiescent(executionId),
        waitingFor: (rest?.parked ? rest.waitingFor : []) as AnswerOf<'awaitRest'>['waitingFor'],
        inside: rest?.parked ? rest.inside.map(({ document }) => document.executionId) : [],
        execution: (rest?.document ?? null) as AnswerOf<'awaitRest'>['execution'],
      });
    },

    async listPlaces({ params: { executionId }, query: { key } }) {
      const rows = await executions.places(executionId, key);
      return ok({
        items: rows.map(({ node, isHeld, executionId: holder }) => ({ executionId: holder, node, isHeld })),
      });
    },
  };
}
