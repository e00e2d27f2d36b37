/** Sends one message to the webhook of a notification, under the ceiling of its project. */
import { createHmac } from 'node:crypto';
import { type Capabilities, NebulaError, narrow, overCeiling } from '@nebula/core';
import { secretIn } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import type { Message } from './message.ts';
import type { NotificationRecord } from './records.ts';

/** `{{NAME}}` in a URL. */
const SECRET = /\{\{([A-Za-z0-9_-]{1,128})\}\}/g;

type Target = Pick<NotificationRecord, 'project' | 'url' | 'secret' | 'network'>;

/** Throws `BODY_INVALID` for a URL that cannot be called. Secrets may not choose the host. */
function askOf({ url: text, network }: Pick<Target, 'url' | 'network'>): Capabilities {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isPlain || /[{}]|%7b|%7d/i.test(url.host)) {
    throw new NebulaError('BODY_INVALID', 'url: it is not the address of a webhook', {
      hint: 'E.g. https://hooks.example.com/x; {{NAME}} in the path stands for a secret of the project.',
      details: { errors: [{ pointer: '/url', detail: 'must begin with https:// or http:// and name a host' }] },
    });
  }
  return { network: [url.host, ...network] };
}

/** Throws `OVER_CEILING` if the project may not reach the target. */
export async function expectWithinCeiling({ projects }: Parts, target: Target): Promise<void> {
  const ask = askOf(target);
  if (overCeiling(ask, await projects.ceilingOf(target.project)).length === 0) return;
  throw new NebulaError('OVER_CEILING', `Project '${target.project}' may not reach ${ask.network?.join(', ')}.`, {
    hint: `An owner can raise its ceiling: nebula projects set ${target.project} --allow network=${ask.network?.[0]}`,
  });
}

/** Resolves when the receiver has answered with 2xx. Errors contain neither the URL nor a secret. */
export async function deliver(parts: Parts, target: Target, message: Message, signal: AbortSignal): Promise<void> {
  const { outgoing, projects, secrets } = parts;
  if (outgoing === undefined) throw new NebulaError('NEEDS_SERVER', 'Nothing can be sent from here.');
  const { project } = target;
  const secretNamed = async (name: string): Promise<string> => {
    const value = await secretIn(secrets, project, name);
    if (value !== undefined) return value;
    throw new NebulaError('SECRET_NOT_FOUND', `Project '${project}' has no secret '${name}'.`, {
      hint: `Set it with: nebula secrets set ${name} --project ${project}`,
    });
  };
  let url = target.url;
  for (const [place, name] of target.url.matchAll(SECRET)) {
    url = url.replace(place, encodeURIComponent(await secretNamed(name as string)).replaceAll('%2F', '/'));
  }
  const body = JSON.stringify(message);
  const signature =
    target.secret === null
      ? undefined
      : createHmac('sha256', await secretNamed(target.secret))
          .update(body)
          .digest('hex');
  const { network = [] } = narrow(askOf(target), await projects.ceilingOf(project));
  const status = await outgoing.post({
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'nebula',
      'idempotency-key': message.messageId,
      ...(signature !== undefined && { 'x-signature': signature }),
    },
    body,
    network,
    timeoutMs: NOTIFICATION_LIMITS.timeoutMs,
    signal,
  });
  if (status >= 200 && status < 300) return;
  throw new NebulaError('NOTIFICATION_REFUSED', `The receiver answered with ${status}.`, { retryable: true });
}

/** An error in one line, for lists. Messages of `fetch` may contain the address, so only their codes are shown. */
export function errorText(error: unknown): string {
  if (error instanceof NebulaError) return `${error.code}: ${error.message}`;
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } };
  if (name === 'TimeoutError') return 'The receiver did not answer in time.';
  return `The receiver could not be reached${typeof cause?.code === 'string' ? ` (${cause.code})` : ''}.`;
}
