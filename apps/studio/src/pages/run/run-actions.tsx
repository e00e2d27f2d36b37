/** What can be done about a run. The main action fits its state; each one shows its consequences before. */
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { editorPath, PATHS, queryText } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Loading } from '../../ui/page.tsx';
import { StartDialog } from '../start/start-dialog.tsx';
import { actionText } from './action-text.ts';
import { RetryDialog } from './retry-dialog.tsx';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

type Asked = 'cancel' | 'retry' | 'again' | 'remove' | 'signal';

export function RunActions({ run }: { readonly run: RunData; readonly view: RunView }): ReactElement | null {
  const { actions, more } = useText(runText);
  const words = useText(actionText);
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked>();
  const mayOperate = useMay('operator');
  const mayEdit = useMay('editor');
  const { executionId, status, workflowId } = run.document;
  const change = { params: { executionId } };
  const done = { refreshes: ['getExecution', 'explainExecution'] as const, done: words.accepted };
  const pause = useChange('pauseExecution', done);
  const resume = useChange('resumeExecution', done);
  if (!mayOperate) return null;
  const isOver = run.document.finishedAt !== null;
  const isFailed = status === 'failed' || status === 'timed-out' || status === 'cancelled';
  const close = (): void => setAsked(undefined);
  const items: MenuItem[] = [
    ...(mayEdit
      ? [{ label: actions.edit, icon: 'edit' as const, onChoose: () => navigate(editorPath(workflowId)) }]
      : []),
    ...(isOver ? [{ label: actions.again, icon: 'play' as const, onChoose: () => setAsked('again') }] : []),
    ...(status === 'running'
      ? [{ label: actions.pause, icon: 'pause' as const, onChoose: () => pause.mutate({ ...change, body: {} }) }]
      : []),
    ...(isOver ? [] : [{ label: actions.signal, icon: 'bolt' as const, onChoose: () => setAsked('signal') }]),
    {
      label: actions.compare,
      icon: 'link' as const,
      onChoose: () => navigate(`${PATHS.compare}${queryText({ a: executionId })}`),
    },
    ...(isOver
      ? [{ label: actions.remove, icon: 'trash' as const, isDangerous: true, onChoose: () => setAsked('remove') }]
      : []),
  ];
  return (
    <>
      {isFailed && mayEdit && (
        <Button icon="edit" className="run-edit" onClick={() => navigate(editorPath(workflowId))}>
          {actions.edit}
        </Button>
      )}
      {isFailed ? (
        <Button kind="primary" icon="retry" onClick={() => setAsked('retry')}>
          {actions.retry}
        </Button>
      ) : status === 'paused' ? (
        <Button
          kind="primary"
          icon="play"
          isBusy={resume.isPending}
          onClick={() => resume.mutate({ ...change, body: {} })}
        >
          {actions.resume}
        </Button>
      ) : isOver ? (
        <Button icon="play" onClick={() => setAsked('again')}>
          {actions.again}
        </Button>
      ) : (
        <Button icon="stop" onClick={() => setAsked('cancel')}>
          {actions.cancel}
        </Button>
      )}
      <Menu label={more} className="button-quiet icon-button run-menu" items={items}>
        <Icon name="more" />
      </Menu>
      {asked === 'cancel' && <CancelDialog run={run} onClose={close} />}
      {asked === 'retry' && <RetryDialog run={run} onClose={close} />}
      {asked === 'signal' && <SignalDialog executionId={executionId} onClose={close} />}
      {asked === 'remove' && <RemoveDialog executionId={executionId} onClose={close} />}
      {asked === 'again' && <StartAgain executionId={executionId} workflowId={workflowId} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly run: RunData;
  onClose(): void;
}

function CancelDialog({ run, onClose }: DialogProps): ReactElement {
  const words = useText(actionText);
  const { executionId, nodes } = run.document;
  const [reason, setReason] = useState('');
  const [compensate, setCompensate] = useState(true);
  const plan = useRead('getUndoPlan', { params: { executionId } });
  const cancel = useChange('cancelExecution', { refreshes: ['getExecution', 'explainExecution'], onDone: onClose });
  const running = Object.entries(nodes).flatMap(([path, node]) => (node.status === 'running' ? [path] : []));
  const submit = (): void =>
    cancel.mutate({ params: { executionId }, body: { compensate, ...(reason !== '' && { reason }) } });
  return (
    <Dialog
      title={words.cancelTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="danger" icon="stop" type="submit" isBusy={cancel.isPending}>
            {words.cancel}
          </Button>
        </>
      }
    >
      <p>{running.length === 0 ? words.cancelNothing : words.cancelStops(running.slice(0, 8).join(', '))}</p>
      <label className="check-row">
        <input type="checkbox" checked={compensate} onChange={({ target }) => setCompensate(target.checked)} />
        {words.compensate}
      </label>
      {plan.data === undefined ? (
        <Loading />
      ) : compensate && plan.data.toUndo.length > 0 ? (
        <>
          <p>{words.cancelUndoes}</p>
          <ol className="consequences">
            {plan.data.toUndo.map(({ node, action, problem }) => (
              <li key={node}>
                <strong>{node}</strong> <span className="mono muted">{action}</span>
                {problem !== null && <p className="field-problem">{words.problem(problem)}</p>}
              </li>
            ))}
          </ol>
        </>
      ) : (
        <p className="muted">{words.cancelUndoesNothing}</p>
      )}
      <Field label={words.reason}>
        {(ids) => <TextInput {...ids} value={reason} onChange={({ target }) => setReason(target.value)} />}
      </Field>
    </Dialog>
  );
}

function SignalDialog({ executionId, onClose }: { readonly executionId: string; onClose(): void }): ReactElement {
  const words = useText(actionText);
  const [signal, setSignal] = useState('');
  const [key, setKey] = useState('');
  const [payload, setPayload] = useState('');
  const [problem, setProblem] = useState<string>();
  const send = useChange('signalExecution', { refreshes: ['getExecution'], done: words.accepted, onDone: onClose });
  const submit = (): void => {
    try {
      const value: unknown = payload === '' ? undefined : JSON.parse(payload);
      const body = { signal, ...(key !== '' && { key }), ...(value !== undefined && { payload: value }) };
      send.mutate({ params: { executionId }, body });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title={words.signalTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={send.isPending}>
            {words.send}
          </Button>
        </>
      }
    >
      <Field label={words.signal}>
        {(ids) => <TextInput {...ids} required value={signal} onChange={({ target }) => setSignal(target.value)} />}
      </Field>
      <Field label={words.key}>
        {(ids) => <TextInput {...ids} value={key} onChange={({ target }) => setKey(target.value)} />}
      </Field>
      <Field label={words.payload} hint="JSON" problem={problem}>
        {(ids) => (
          <textarea
            {...ids}
            className="textarea"
            rows={4}
            value={payload}
            onChange={({ target }) => setPayload(target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}

function RemoveDialog({ executionId, onClose }: { readonly executionId: string; onClose(): void }): ReactElement {
  const words = useText(actionText);
  const [, navigate] = useLocation();
  const remove = useChange('deleteExecution', {
    refreshes: ['listExecutions', 'countExecutions'],
    onDone: () => navigate(PATHS.runs),
  });
  return (
    <Dialog
      title={words.removeTitle}
      onClose={onClose}
      onSubmit={() => remove.mutate({ params: { executionId } })}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="danger" icon="trash" type="submit" isBusy={remove.isPending}>
            {words.remove}
          </Button>
        </>
      }
    >
      <p>{words.removeWhat}</p>
    </Dialog>
  );
}

interface StartAgainProps {
  readonly executionId: string;
  readonly workflowId: string;
  onClose(): void;
}

function StartAgain({ executionId, workflowId, onClose }: StartAgainProps): ReactElement | null {
  const values = useRead('getValues', { params: { executionId }, query: {} });
  if (values.data === undefined) return null;
  const { input } = values.data;
  return (
    <StartDialog
      workflowId={workflowId}
      initial={input !== null && 'value' in input ? input.value : undefined}
      onClose={onClose}
    />
  );
}
