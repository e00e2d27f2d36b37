/** The message of a notification: no values of runs, and no secrets. Error messages were redacted when they were recorded. */
import { formatDuration } from '@nebula/core';
import { isoTime } from '../routes/times.ts';
import type { Collected } from './events.ts';
import type { EventKind, NotificationRecord, NotifiedEvent } from './records.ts';

const SHOWN = 5;

interface ShownEvent extends Omit<NotifiedEvent, 'at'> {
  readonly at: string;
  /** The command that explains it. */
  readonly look: string;
  /** The run at the API of the server, if its public URL is configured. */
  readonly link: string | null;
}

export interface Message {
  readonly messageId: string;
  readonly notificationId: string;
  readonly project: string;
  readonly sentAt: string;
  readonly isTest: boolean;
  readonly counts: Collected['counts'];
  /** The first five events. */
  readonly first: readonly ShownEvent[];
  /** All of it as plain text. */
  readonly text: string;
}

interface MessageOptions {
  readonly now: number;
  readonly publicUrl: string | undefined;
  readonly isTest?: boolean;
}

export function messageOf(
  id: string,
  { project }: NotificationRecord,
  messageId: string,
  { events, counts }: Pick<Collected, 'events' | 'counts'>,
  { now, publicUrl, isTest = false }: MessageOptions,
): Message {
  const shown = events.slice(0, SHOWN);
  const linkTo = ({ executionId }: NotifiedEvent): string | null =>
    publicUrl === undefined ? null : `${publicUrl.replace(/\/+$/, '')}/api/v1/executions/${executionId}`;
  const first = shown.map(({ at, ...event }) => ({
    ...event,
    at: isoTime(at),
    look: lookAt({ ...event, at }),
    link: linkTo({ ...event, at }),
  }));
  const total = counts.failed + counts.unknown + counts.approval + counts.stuck;
  const lines = [
    `${isTest ? 'Test: ' : ''}${headline(counts)} in project ${project}`,
    '',
    ...shown.flatMap((event) => linesOf(event, linkTo(event)).filter((line) => line !== null)),
    ...(total > shown.length ? [`and ${total - shown.length} more`] : []),
  ];
  return {
    messageId,
    notificationId: id,
    project,
    sentAt: isoTime(now),
    isTest,
    counts,
    first,
    text: lines.join('\n'),
  };
}

const WORDS: Readonly<Record<EventKind, readonly [one: string, many: string]>> = {
  failed: ['run failed', 'runs failed'],
  unknown: ['attempt has an unknown outcome', 'attempts have an unknown outcome'],
  approval: ['approval is waited for', 'approvals are waited for'],
  stuck: ['run is stuck', 'runs are stuck'],
};

function headline(counts: Collected['counts']): string {
  const kinds = (Object.keys(WORDS) as EventKind[]).filter((kind) => counts[kind] > 0);
  return kinds.map((kind) => `${counts[kind]} ${WORDS[kind][counts[kind] === 1 ? 0 : 1]}`).join(', ');
}

function linesOf(event: NotifiedEvent, link: string | null): (string | null)[] {
  const { workflowId, executionId, node, code, message, durationMs, kind, place } = event;
  const where = node === null ? '' : `, node ${node}`;
  const why = code === null ? (kind === 'approval' ? 'waits for an approval' : '') : `${code} ${message}`;
  const first = `${workflowId} ${executionId}${where}: ${why} (after ${formatDuration(durationMs)})`;
  return [first, place && `  at ${place}`, `  ${lookAt(event)}`, link && `  ${link}`];
}

function lookAt({ executionId, node }: NotifiedEvent): string {
  return `nebula executions explain ${executionId}${node === null ? '' : ` '${node}'`}`;
}

/** For `test`: as after a failure. */
export function sampleEvent(now: number): NotifiedEvent {
  return {
    kind: 'failed',
    executionId: 'exe_sample',
    workflowId: 'sample',
    node: 'step',
    at: now,
    durationMs: 1_500,
    code: 'TIMEOUT',
    message: 'This is a test. No run has failed.',
    place: null,
  };
}
