/** Sends one message through the channel of a notification, under the ceiling of its project. */
import { createHmac } from 'node:crypto';
import { NebulaError, narrow, overCeiling } from '@nebula/core';
import { secretIn } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { runCommand } from './command.ts';
import { sendMail } from './mail.ts';
import type { Message } from './message.ts';
import type { NotificationRecord } from './records.ts';
import { type Addressed, askOf, isCommand, type Mail, type Target, targetOf } from './target.ts';

/** `{{NAME}}` in a URL. */
const SECRET = /\{\{([A-Za-z0-9_-]{1,128})\}\}/g;

type Recipient = Addressed & Pick<NotificationRecord, 'project'>;

/** Throws `OVER_CEILING` if the project may not reach the target. */
export async function expectWithinCeiling({ projects }: Parts, recipient: Recipient): Promise<void> {
  const ask = askOf(targetOf(recipient), recipient);
  const { project } = recipient;
  if (overCeiling(ask, await projects.ceilingOf(project)).length === 0) return;
  throw new NebulaError('OVER_CEILING', `Project '${project}' may not reach ${ask.network?.join(', ')}.`, {
    hint: `An owner can raise its ceiling: nebula projects set ${project} --allow network=${ask.network?.[0]}`,
  });
}

/**
 * Resolves when the receiver has accepted the message: to null, or to a sentence about those who did not. Errors contain
 * neither the URL nor a secret.
 */
export async function deliver(
  parts: Parts,
  recipient: Recipient,
  message: Message,
  signal: AbortSignal,
): Promise<string | null> {
  if (isCommand(recipient)) {
    await runCommand(parts, message, signal);
    return null;
  }
  const target = targetOf(recipient);
  if (target.channel === 'mail') return await mail(parts, target, recipient, message, signal);
  await post(parts, target, recipient, message, signal);
  return null;
}

async function mail(
  parts: Parts,
  target: Mail,
  recipient: Recipient,
  message: Message,
  signal: AbortSignal,
): Promise<string | null> {
  const { project } = recipient;
  const { login } = target;
  const auth = login && {
    user: await secretNamed(parts, project, login.user),
    pass: await secretNamed(parts, project, login.password),
  };
  const network = await networkOf(parts, target, recipient);
  return await sendMail(outgoingOf(parts), target, message, auth ?? undefined, { network, signal });
}

async function post(
  parts: Parts,
  target: Target,
  recipient: Recipient,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { project, secret } = recipient;
  const outgoing = outgoingOf(parts);
  let url = recipient.url;
  for (const [place, name] of recipient.url.matchAll(SECRET)) {
    const value = await secretNamed(parts, project, name as string);
    url = url.replace(place, encodeURIComponent(value).replaceAll('%2F', '/'));
  }
  const body = JSON.stringify(message);
  const signature =
    secret === null
      ? undefined
      : createHmac('sha256', await secretNamed(parts, project, secret))
          .update(body)
          .digest('hex');
  const status = await outgoing.post({
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'nebula',
      'idempotency-key': message.messageId,
      ...(signature !== undefined && { 'x-signature': signature }),
    },
    body,
    network: await networkOf(parts, target, recipient),
    timeoutMs: NOTIFICATION_LIMITS.timeoutMs,
    signal,
  });
  if (status >= 200 && status < 300) return;
  // The path of a webhook is often a secret.
  const origin = URL.parse(recipient.url)?.origin ?? 'the receiver';
  throw new NebulaError('NOTIFICATION_REFUSED', `POST ${origin}: the receiver answered with ${status}.`, {
    retryable: true,
  });
}

function outgoingOf({ outgoing }: Parts): NonNullable<Parts['outgoing']> {
  if (outgoing === undefined) throw new NebulaError('NEEDS_SERVER', 'Nothing can be sent from here.');
  return outgoing;
}

async function networkOf({ projects }: Parts, target: Target, recipient: Recipient): Promise<readonly string[]> {
  return narrow(askOf(target, recipient), await projects.ceilingOf(recipient.project)).network ?? [];
}

async function secretNamed({ secrets }: Parts, project: string, name: string): Promise<string> {
  const value = await secretIn(secrets, project, name);
  if (value !== undefined) return value;
  throw new NebulaError('SECRET_NOT_FOUND', `Project '${project}' has no secret '${name}'.`, {
    hint: `Set it with: nebula secrets set ${name} --project ${project}`,
  });
}

/** An error in one line, for lists. Messages of `fetch` may contain the address, so only their codes are shown. */
export function errorText(error: unknown): string {
  if (error instanceof NebulaError) return `${error.code}: ${error.message}`;
  const { name, code, cause } = error as {
    readonly name?: string;
    readonly code?: unknown;
    readonly cause?: { readonly code?: unknown };
  };
  if (name === 'TimeoutError') return 'The receiver did not answer in time.';
  const known = [cause?.code, code].find((one) => typeof one === 'string');
  return `The receiver could not be reached${known === undefined ? '' : ` (${known})`}.`;
}
