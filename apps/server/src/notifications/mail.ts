/** Sends a message as mail. The connection is made under the grant of the project, and only TLS is left to the library. */
import { NebulaError } from '@nebula/core';
import type { OutgoingConnection } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import type { Message } from './message.ts';
import type { Mail } from './target.ts';

export interface MailLogin {
  readonly user: string;
  readonly pass: string;
}

type Limits = Pick<OutgoingConnection, 'network' | 'signal'>;

/** Resolves when the server has accepted the mail for a recipient: to a sentence about those it refused, or null. */
export async function sendMail(
  outgoing: NonNullable<Parts['outgoing']>,
  { host, port, tls, from, to }: Mail,
  message: Message,
  login: MailLogin | undefined,
  limits: Limits,
): Promise<string | null> {
  const { createTransport } = await import('nodemailer');
  const { timeoutMs } = NOTIFICATION_LIMITS;
  const connection = await outgoing.connect({ host, port, timeoutMs, ...limits });
  const transport = createTransport({
    host: host.replace(/^\[|\]$/g, ''),
    port,
    connection,
    secure: tls === 'wrapped',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login !== undefined && { auth: login }),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected } = await transport.sendMail({
      from: { ...from },
      to: to.map((one) => ({ ...one })),
      subject: message.text.split('\n', 1)[0] ?? '',
      text: message.text,
      // A repetition has the same id.
      messageId: `<${message.messageId}@${from.address.split('@')[1]}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const refused = rejected.length;
    return refused === 0 ? null : `The mail server refused ${refused} of ${to.length} recipients.`;
  } catch (error) {
    throw mailFailure(error as MailError, limits.signal);
  } finally {
    transport.close();
    connection.destroy();
  }
}

interface MailError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
}

/** The answers of a mail server may repeat parts of a login: only their codes are shown. */
function mailFailure(error: MailError, signal: AbortSignal): unknown {
  if (signal.aborted || error.name === 'TimeoutError') return error;
  const { code, responseCode } = error;
  if (responseCode !== undefined) {
    return new NebulaError('NOTIFICATION_REFUSED', `The mail server answered with ${responseCode}.`, {
      retryable: true,
    });
  }
  if (code === 'ETLS') {
    return new NebulaError('NOTIFICATION_REFUSED', 'TLS with the mail server failed.', { retryable: true });
  }
  return new Error('The mail was not sent', { cause: { code } });
}
