/** What can be done about one node: answer it, settle it, run it again. */
import { locate, pathThrough } from '@nebula/canvas/model';
import type { AnswerOf } from '@nebula/client';
import type { NodeDefinition } from '@nebula/core';
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading } from '../../ui/page.tsx';
import { useSchemaForm } from '../../ui/schema-form/schema-form.tsx';
import { actionText } from './action-text.ts';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

interface NodeActionsProps {
  readonly run: RunData;
  readonly view: RunView;
  readonly node: string;
}

const CHANGED = ['getExecution', 'explainExecution', 'getValues', 'listHumanTasks', 'countHumanTasks'] as const;

export function NodeActions({ run, view, node }: NodeActionsProps): ReactElement | null {
  const { actions } = useText(runText);
  const mayOperate = useMay('operator');
  const [asked, setAsked] = useState<'answer' | 'settle' | 'replay'>();
  const close = (): void => setAsked(undefined);
  const document = run.document.nodes[node];
  if (!mayOperate || document === undefined || view.seq !== undefined) return null;
  const form = formOf(run, node);
  const awaited = approvalOf(document.waitsFor);
  const approval = awaited && { ...awaited, ...(form !== undefined && { form }) };
  const isOver = run.document.finishedAt !== null;
  return (
    <>
      {approval !== undefined && (
        <Button kind="primary" onClick={() => setAsked('answer')}>
          {actions.approve}
        </Button>
      )}
      {document.status === 'unknown' && (
        <Button kind="primary" onClick={() => setAsked('settle')}>
          {actions.settle}
        </Button>
      )}
      {isOver && document.status !== 'pending' && (
        <Button icon="retry" onClick={() => setAsked('replay')}>
          {actions.replay}
        </Button>
      )}
      {asked === 'answer' && approval !== undefined && (
        <AnswerDialog executionId={run.document.executionId} node={node} approval={approval} onClose={close} />
      )}
      {asked === 'settle' && <SettleDialog executionId={run.document.executionId} node={node} onClose={close} />}
      {asked === 'replay' && <ReplayDialog run={run} node={node} onClose={close} />}
    </>
  );
}

export interface Approval {
  readonly kind: 'approval';
  readonly title?: string;
  readonly form?: unknown;
}

/** The approval among the events that a node waits for. */
function approvalOf(waitsFor: AnswerOf<'getExecution'>['nodes'][string]['waitsFor']): Approval | undefined {
  if (waitsFor?.kind !== 'event') return undefined;
  return (waitsFor.events as { readonly kind: string }[]).find((event): event is Approval => event.kind === 'approval');
}

/** The form of an approval is part of the definition, not of the journal. */
function formOf({ graph, definition }: RunData, path: string): unknown {
  let body: { readonly nodes?: Readonly<Record<string, NodeDefinition>> } | undefined = definition;
  let node: NodeDefinition | undefined;
  for (const id of locate(graph, path)?.node.split('/') ?? []) {
    node = body?.nodes?.[id];
    body = node?.do ?? node?.group;
  }
  return (node?.wait as { readonly approval?: { readonly form?: unknown } } | undefined)?.approval?.form;
}

interface AnswerDialogProps {
  readonly executionId: string;
  readonly node: string;
  readonly approval: Approval;
  onClose(): void;
}

function AnswerDialog({ executionId, node, approval, onClose }: AnswerDialogProps): ReactElement {
  const words = useText(actionText);
  const [comment, setComment] = useState('');
  const form = useSchemaForm(approval.form);
  const answer = useChange('answerApproval', { refreshes: CHANGED, done: words.accepted, onDone: onClose });
  const give = (approved: boolean): void => {
    const given = approval.form === undefined || !approved ? undefined : form.read();
    if (approved && approval.form !== undefined && given === undefined) return;
    const body = {
      node,
      approved,
      ...(comment !== '' && { comment }),
      ...(given !== undefined && { form: given.value }),
    };
    answer.mutate({ params: { executionId }, body });
  };
  return (
    <Dialog
      title={words.answerTitle(approval.title ?? node)}
      onClose={onClose}
      onSubmit={() => give(true)}
      actions={
        <>
          <Button kind="danger" isBusy={answer.isPending} onClick={() => give(false)}>
            {words.reject}
          </Button>
          <Button kind="primary" type="submit" isBusy={answer.isPending}>
            {words.approve}
          </Button>
        </>
      }
    >
      {approval.form !== undefined && form.element}
      <Field label={words.comment}>
        {(ids) => <TextInput {...ids} value={comment} onChange={({ target }) => setComment(target.value)} />}
      </Field>
    </Dialog>
  );
}

interface SettleDialogProps {
  readonly executionId: string;
  readonly node: string;
  onClose(): void;
}

export function SettleDialog({ executionId, node, onClose }: SettleDialogProps): ReactElement {
  const words = useText(actionText);
  const [choice, setChoice] = useState<'happened' | 'retry' | 'fail'>('happened');
  const form = useSchemaForm(undefined, null);
  const settle = useChange('settleNode', { refreshes: CHANGED, done: words.accepted, onDone: onClose });
  const submit = (): void => {
    const happened = choice === 'happened';
    const output = happened ? form.read() : undefined;
    if (happened && output === undefined) return;
    const body = {
      node,
      happened,
      ...(output && { output: output.value }),
      ...(choice !== 'happened' && { then: choice }),
    };
    settle.mutate({ params: { executionId }, body });
  };
  const choices = [
    ['happened', words.happened],
    ['retry', words.notHappened],
    ['fail', words.notHappenedFail],
  ] as const;
  return (
    <Dialog
      title={words.settleTitle(node)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={settle.isPending}>
            {words.settle}
          </Button>
        </>
      }
    >
      <p>{words.settleWhat}</p>
      {choices.map(([value, label]) => (
        <label key={value} className="check-row">
          <input type="radio" name="settle" checked={choice === value} onChange={() => setChoice(value)} />
          {label}
        </label>
      ))}
      {choice === 'happened' && form.element}
    </Dialog>
  );
}

function ReplayDialog({
  run,
  node,
  onClose,
}: {
  readonly run: RunData;
  readonly node: string;
  onClose(): void;
}): ReactElement {
  const words = useText(actionText);
  const { executionId } = run.document;
  const values = useRead('getValues', { params: { executionId }, query: { node } });
  if (values.data === undefined) {
    return (
      <Dialog title={words.replayTitle(node)} onClose={onClose}>
        <Loading />
      </Dialog>
    );
  }
  const { input } = values.data;
  return (
    <ReplayForm
      run={run}
      node={node}
      input={input !== null && 'value' in input ? input.value : undefined}
      onClose={onClose}
    />
  );
}

interface ReplayFormProps {
  readonly run: RunData;
  readonly node: string;
  readonly input: unknown;
  onClose(): void;
}

function ReplayForm({ run, node, input, onClose }: ReplayFormProps): ReactElement {
  const words = useText(actionText);
  const [, navigate] = useLocation();
  const { executionId, nodes } = run.document;
  const [isFork, setFork] = useState(false);
  const form = useSchemaForm(undefined, input ?? null);
  const replay = useChange('replayExecution', {
    refreshes: CHANGED,
    onDone: (accepted) => {
      onClose();
      if (accepted.executionId !== executionId) navigate(runPath(accepted.executionId));
    },
  });
  const again = followers(run, node);
  const submit = (): void => {
    const given = form.read();
    if (given === undefined) return;
    const isChanged = JSON.stringify(given.value) !== JSON.stringify(input ?? null);
    replay.mutate({ params: { executionId }, body: { node, fork: isFork, ...(isChanged && { input: given.value }) } });
  };
  return (
    <Dialog
      title={words.replayTitle(node)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="primary" icon={isFork ? 'fork' : 'retry'} type="submit" isBusy={replay.isPending}>
            {isFork ? words.forked : words.replay}
          </Button>
        </>
      }
    >
      <p>
        {words.replayAgain} <strong>{again.join(', ')}</strong>
      </p>
      <p className="muted">{words.replayRest(Object.keys(nodes).length - again.length)}</p>
      <h3>{words.replayInput}</h3>
      {form.element}
      <label className="check-row">
        <input type="checkbox" checked={isFork} onChange={({ target }) => setFork(target.checked)} />
        {words.fork}
      </label>
    </Dialog>
  );
}

/** The node and all that follow from it. */
function followers({ graph }: RunData, path: string): readonly string[] {
  const node = locate(graph, path)?.node;
  if (node === undefined) return [path];
  const { edges } = pathThrough(graph, node);
  const found = new Set([node]);
  let size = 0;
  while (size !== found.size) {
    size = found.size;
    for (const id of edges) {
      const edge = graph.edges.get(id);
      if (edge !== undefined && found.has(edge.from)) found.add(edge.to);
    }
  }
  return [...found];
}
