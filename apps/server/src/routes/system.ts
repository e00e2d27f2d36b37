/** Information about the server. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Handlers, ok } from '../http/handler.ts';

export function systemRoutes(info: AnswerOf<'getInfo'>): Pick<Handlers, 'getInfo'> {
  return { getInfo: async () => ok(info) };
}
