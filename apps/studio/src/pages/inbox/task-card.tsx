/**
 * One task. The buttons are on the card; a choice opens what it needs below, and a second tap confirms it: with the tap
 * that opens the inbox, three.
 */
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { runPath, workflowPath } from '../../app/routes.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge, Button } from '../../ui/controls.tsx';
import { StatusGlyph } from '../../ui/status.tsx';
import { SettleDialog } from '../run/node-actions.tsx';
import { AnswerPanel } from './answer-panel.tsx';
import { inboxText } from './inbox-text.ts';
import { refreshInbox } from './refresh-inbox.ts';
import { SendPanel } from './send-panel.tsx';
import type { Task } from './task.ts';

type Opened = 'approve' | 'reject' | 'settle' | 'send';

const GLYPHS = { approval: 'waiting', unknown: 'unknown', signal: 'waiting', callback: 'waiting' } as const;

export function TaskCard({ task }: { readonly task: Task }): ReactElement | null {
  const words = useText(inboxText);
  const [opened, setOpened] = useState<Opened>();
  // The engine removes the task a moment after it has accepted the answer.
  const [isAnswered, setAnswered] = useState(false);
  const { executionId, workflowId, node, kind, error, mayAnswer } = task;
  const close = (): void => setOpened(undefined);
  const title = titleOf(task, words);
  const answered = (): void => {
    setAnswered(true);
    refreshInbox();
  };
  if (isAnswered) return null;
  return (
    <li className="task" aria-label={title}>
      <StatusGlyph status={GLYPHS[kind]} size={20} />
      <div className="task-what">
        <h2>{title}</h2>
        <p className="task-where muted">
          <Badge kind={kind === 'unknown' ? 'warning' : 'plain'}>{words.kind[kind]}</Badge>
          <Link href={workflowPath(workflowId)}>{workflowId}</Link>
          <Link href={runPath(executionId, { node })} title={words.openRun}>
            {node}
          </Link>
          <TaskTimes task={task} />
        </p>
        {error !== undefined && (
          <p className="task-error">
            <strong>{error.code}</strong> {error.message}
          </p>
        )}
      </div>
      {mayAnswer ? (
        opened !== 'approve' &&
        opened !== 'reject' &&
        opened !== 'send' && <TaskButtons task={task} onOpen={setOpened} />
      ) : (
        <p className="task-actions muted">{task.who === undefined ? words.notYours : words.for(task.who.join(', '))}</p>
      )}
      {(opened === 'approve' || opened === 'reject') && (
        <AnswerPanel task={task} isApproval={opened === 'approve'} onAnswered={answered} onClose={close} />
      )}
      {opened === 'send' && <SendPanel task={task} onAnswered={answered} onClose={close} />}
      {opened === 'settle' && <SettleDialog executionId={executionId} node={node} onClose={close} />}
    </li>
  );
}

function titleOf({ kind, title, node, signal = '' }: Task, words: (typeof inboxText)['en']): string {
  switch (kind) {
    case 'approval':
      return title ?? node;
    case 'unknown':
      return words.unknownOutcome(node);
    case 'signal':
      return words.awaitedSignal(signal);
    case 'callback':
      return words.awaitedCall(node);
  }
}

const SOON_MS = 3_600_000;

function TaskTimes({ task }: { readonly task: Task }): ReactElement {
  const words = useText(inboxText);
  const format = useFormat();
  const now = useNow(30_000);
  const since = Date.parse(task.since);
  const deadline = task.deadline === null ? undefined : Date.parse(task.deadline);
  return (
    <>
      {task.attempt !== undefined && <span>{words.attempt(task.attempt)}</span>}
      {task.key !== undefined && <span className="mono truncate">{words.key(task.key)}</span>}
      {task.who !== undefined && task.mayAnswer && <span>{words.for(task.who.join(', '))}</span>}
      <span title={format.full(since)}>{format.relative(since, now)}</span>
      {deadline !== undefined && (
        <span className={deadline - now < SOON_MS ? 'task-due' : undefined} title={format.full(deadline)}>
          {deadline < now ? words.overdue : words.due(format.relative(deadline, now))}
        </span>
      )}
    </>
  );
}

function TaskButtons({ task, onOpen }: { readonly task: Task; onOpen(opened: Opened): void }): ReactElement {
  const words = useText(inboxText);
  return (
    <div className="task-actions">
      {task.kind === 'approval' && (
        <>
          <Button kind="danger" onClick={() => onOpen('reject')}>
            {words.reject}
          </Button>
          <Button kind="primary" onClick={() => onOpen('approve')}>
            {words.approve}
          </Button>
        </>
      )}
      {task.kind === 'unknown' && (
        <Button kind="primary" onClick={() => onOpen('settle')}>
          {words.settle}
        </Button>
      )}
      {(task.kind === 'signal' || task.kind === 'callback') && (
        <Button icon="bolt" onClick={() => onOpen('send')}>
          {task.kind === 'signal' ? words.send : words.call}
        </Button>
      )}
    </div>
  );
}
