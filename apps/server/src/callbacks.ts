/**
 * Addresses at which nodes that wait for a call are called, once each.
 *
 *  B1 An address says which node it is for, and proves that this server made it: nobody can guess one, and none is stored.
 *  B2 The first call is recorded before it is handed to the run. Whoever dies in between, the next call hands it over.
 *  B3 A call counts also when it comes before its node waits; a second one is refused, whatever became of the first.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CallbackUrl, givenProblem, type Json, NebulaError } from '@nebula/core';
import type { Records } from '@nebula/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Parts } from './parts.ts';
import { readRecord } from './records.ts';
import { cameWith, takesAnyBody } from './triggers/webhooks.ts';

const CALLBACKS_PREFIX = '/callbacks';

/** By then the run has taken the call, and says by itself that it was made. */
const RECORDED_MS = 24 * 3_600_000;

interface Address {
  readonly executionId: string;
  readonly node: string;
  readonly generation: number;
}

/** What addresses are proved with; made when it is first asked for, and the same for all processes. */
export async function callbackKey(records: Records): Promise<string> {
  for (;;) {
    const known = await readRecord<{ readonly key: string }>(records, 'server', 'callback-key');
    if (known !== undefined) return known.body.key;
    const body = JSON.stringify({ key: randomBytes(32).toString('base64url') });
    await records.commit([{ kind: 'server', id: 'callback-key', body, expected: 0 }]);
  }
}

/** For the engine. `url`: under which the server is reached from outside. */
export function callbackAddresses(key: string, url: () => string): CallbackUrl {
  return (executionId, node, generation) => {
    const text = Buffer.from(JSON.stringify([executionId, node, generation])).toString('base64url');
    return `${url()}${CALLBACKS_PREFIX}/${text}.${proofOf(key, text)}`;
  };
}

export function callbackRoutes(app: FastifyInstance, parts: Parts, key: string): void {
  void app.register(async (calls) => {
    takesAnyBody(calls);
    const called = new WeakMap<FastifyRequest, Address>();
    calls.route({
      method: 'POST',
      url: `${CALLBACKS_PREFIX}/:token`,
      // Before the body is read: who guesses at an address is not listened to.
      onRequest: async (request) => {
        const address = addressIn(key, (request.params as { token: string }).token);
        if (address === undefined || (await parts.store.execution(address.executionId)) === undefined) {
          throw new NebulaError('UNKNOWN_CALLBACK', 'Nobody waits for a call at this address.');
        }
        called.set(request, address);
      },
      handler: async (request, reply) => {
        const address = called.get(request) as Address;
        await takeCall(parts, address, (request.params as { token: string }).token, cameWith(request));
        return reply.status(202).send({ executionId: address.executionId, node: address.node, accepted: true });
      },
    });
  });
}

async function takeCall(parts: Parts, address: Address, token: string, payload: Json): Promise<void> {
  const { records, executions, digest, clock } = parts;
  const { executionId, node, generation } = address;
  // Before the call is recorded: the address stays good for a payload that can be taken.
  const problem = givenProblem(payload, 'the payload');
  if (problem !== undefined) throw new NebulaError('BODY_INVALID', `The call cannot be taken: ${problem}.`);
  const id = digest(token);
  const body = JSON.stringify({ payload });
  const expiresAt = clock.now() + RECORDED_MS;
  const outcome = await records.commit([{ kind: 'callback', id, body, expected: 0, expiresAt }]);
  const first = outcome.ok ? undefined : await readRecord<{ readonly payload: Json }>(records, 'callback', id);
  const taken = await executions.requestCall(executionId, node, generation, first?.body.payload ?? payload);
  if (outcome.ok && taken === 'taken') return;
  throw new NebulaError('CALLBACK_USED', 'The call was made already, or nobody waits for it any more.', {
    hint: 'An address is good for one call.',
  });
}

/** Undefined: this server did not make it. */
function addressIn(key: string, token: string): Address | undefined {
  const [text = '', proof = '', more] = token.split('.');
  const [given, wanted] = [Buffer.from(proof), Buffer.from(proofOf(key, text))];
  // One address has one spelling: another one would be good for another call.
  if (more !== undefined || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const [executionId, node, generation] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
    string,
    string,
    number,
  ];
  return { executionId, node, generation };
}

function proofOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
