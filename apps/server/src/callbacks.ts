/**
 * Callback URLs of nodes that wait for a call. Each can be called once.
 *
 *  B1 A URL names its node and carries a signature of this server: it cannot be guessed and is not stored. Expressions
 *     and journals have the URL unsigned; only an attempt is given the signature.
 *  B2 The first call is recorded before it is passed to the run. After a crash in between, the next call passes it on.
 *  B3 A call counts even before its node waits; a second one is rejected, whatever became of the first.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { givenProblem, type Json, MARK_CHARS, NebulaError, UNSIGNED } from '@nebula/core';
import type { Callbacks } from '@nebula/engine';
import type { Records } from '@nebula/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Parts } from './parts.ts';
import { readRecord } from './records.ts';
import { cameWith, takesAnyBody } from './triggers/webhooks.ts';

const CALLBACKS_PREFIX = '/callbacks';

/** How long a record is kept; by then the journal of the run has the call. */
const RECORDED_MS = 24 * 3_600_000;

interface Address {
  readonly executionId: string;
  readonly node: string;
  readonly generation: number;
}

/** The signing key: created at first use, the same for all processes. */
export async function callbackKey(records: Records): Promise<string> {
  for (;;) {
    const known = await readRecord<{ readonly key: string }>(records, 'server', 'callback-key');
    if (known !== undefined) return known.body.key;
    const body = JSON.stringify({ key: randomBytes(32).toString('base64url') });
    await records.commit([{ kind: 'server', id: 'callback-key', body, expected: 0 }]);
  }
}

/** Makes callback URLs for the engine. `url`: the public address of the server. */
export function callbackUrls(key: string, url: () => string): Callbacks {
  return {
    url(executionId, node, generation) {
      const address = Buffer.from(JSON.stringify([executionId, node, generation])).toString('base64url');
      return `${url()}${CALLBACKS_PREFIX}/${address}.${unsignedProof(key, address)}`;
    },
    sign({ address, proof }) {
      if (!isEqual(proof, unsignedProof(key, address))) return undefined;
      return { executionId: partsOf(address).executionId, signature: proofOf(key, address) };
    },
    unsign: ({ address, proof }) => (isEqual(proof, proofOf(key, address)) ? unsignedProof(key, address) : undefined),
  };
}

export function callbackRoutes(app: FastifyInstance, parts: Parts, key: string): void {
  void app.register(async (calls) => {
    takesAnyBody(calls);
    const called = new WeakMap<FastifyRequest, Address>();
    calls.route({
      method: 'POST',
      url: `${CALLBACKS_PREFIX}/:token`,
      // Invalid URLs are rejected before the body is read.
      onRequest: async (request) => {
        const address = addressIn(key, (request.params as { token: string }).token);
        if (address === undefined || (await parts.store.execution(address.executionId)) === undefined) {
          throw new NebulaError('UNKNOWN_CALLBACK', 'No node waits for a call at this URL.', {
            hint: 'Journals and documents show callback URLs unsigned. Only actions are given the URL that can be called.',
          });
        }
        called.set(request, address);
      },
      handler: async (request, reply) => {
        const address = called.get(request) as Address;
        await takeCall(
          parts,
          address,
          (request.params as { token: string }).token,
          await cameWith(request, parts.clock),
        );
        return reply.status(202).send({ executionId: address.executionId, node: address.node, accepted: true });
      },
    });
  });
}

async function takeCall(parts: Parts, address: Address, token: string, payload: Json): Promise<void> {
  const { records, executions, digest, clock } = parts;
  const { executionId, node, generation } = address;
  // Checked before the call is recorded, so that the URL can be called again with a valid payload.
  const problem = givenProblem(payload, 'the payload');
  if (problem !== undefined) throw new NebulaError('BODY_INVALID', `The call cannot be accepted: ${problem}.`);
  const id = digest(token);
  const body = JSON.stringify({ payload });
  const expiresAt = clock.now() + RECORDED_MS;
  const outcome = await records.commit([{ kind: 'callback', id, body, expected: 0, expiresAt }]);
  const first = outcome.ok ? undefined : await readRecord<{ readonly payload: Json }>(records, 'callback', id);
  const taken = await executions.requestCall(executionId, node, generation, first?.body.payload ?? payload);
  if (outcome.ok && taken === 'taken') return;
  throw new NebulaError('CALLBACK_USED', 'The call was already made, or no node waits for it any more.', {
    hint: 'A callback URL works for one call.',
  });
}

/** Undefined if the signature is wrong. */
function addressIn(key: string, token: string): Address | undefined {
  const [address = '', proof = '', more] = token.split('.');
  // Only the canonical spelling is accepted: another one would allow a second call.
  return more === undefined && isEqual(proof, proofOf(key, address)) ? partsOf(address) : undefined;
}

/** The address must be one that this server made. */
function partsOf(address: string): Address {
  const text = Buffer.from(address, 'base64url').toString();
  const [executionId, node, generation] = JSON.parse(text) as [string, string, number];
  return { executionId, node, generation };
}

function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function proofOf(key: string, address: string): string {
  return createHmac('sha256', key).update(address).digest('base64url');
}

/** Takes the place of the signature where people read. Addresses have no blanks, so it is no signature of any. */
function unsignedProof(key: string, address: string): string {
  return UNSIGNED + proofOf(key, `unsigned ${address}`).slice(0, MARK_CHARS);
}
