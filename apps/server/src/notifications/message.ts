/** What a notification says: no values of runs, and no secrets. Error messages were redacted when they were recorded. */
import { formatDuration } from '@nebula/core';
import { isoTime } from '../routes/times.ts';
import type { Collected, NotifiedEvent } from './events.ts';
import type { NotificationKind, NotificationRecord } from './records.ts';

const SHOWN = 5;

export interface Message {
  readonly messageId: string;
  readonly notificationId: string;
  readonly project: string;
  readonly sentAt: string;
  readonly isTest: boolean;
  readonly counts: Collected['counts'];
  /** The first five events. */
  readonly first: readonly (Omit<NotifiedEvent, 'at'> & { readonly at: string; readonly look: string })[];
  /** All of it as plain text. */
  readonly text: string;
}

export function messageOf(
  id: string,
  { project }: NotificationRecord,
  messageId: string,
  { events, counts }: Pick<Collected, 'events' | 'counts'>,
  now: number,
  isTest = false,
): Message {
  const shown = events.slice(0, SHOWN);
  const first = shown.map((event) => ({ ...event, at: isoTime(event.at), look: lookAt(event) }));
  const total = counts.failed + counts.unknown + counts.approval;
  const lines = [
    `${isTest ? 'Test: ' : ''}${headline(counts)} in project ${project}`,
    '',
    ...shown.flatMap((event) => [lineOf(event), `  ${lookAt(event)}`]),
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

const WORDS: Readonly<Record<NotificationKind, readonly [one: string, many: string]>> = {
  failed: ['run failed', 'runs failed'],
  unknown: ['attempt has an unknown outcome', 'attempts have an unknown outcome'],
  approval: ['approval is waited for', 'approvals are waited for'],
};

function headline(counts: Collected['counts']): string {
  const kinds = (Object.keys(WORDS) as NotificationKind[]).filter((kind) => counts[kind] > 0);
  return kinds.map((kind) => `${counts[kind]} ${WORDS[kind][counts[kind] === 1 ? 0 : 1]}`).join(', ');
}

function lineOf({ workflowId, executionId, node, code, message, durationMs, kind }: NotifiedEvent): string {
  const where = node === null ? '' : `, node ${node}`;
  const why = code === null ? (kind === 'approval' ? 'waits for an approval' : '') : `${code} ${message}`;
  return `${workflowId} ${executionId}${where}: ${why} (after ${formatDuration(durationMs)})`;
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
  };
}
