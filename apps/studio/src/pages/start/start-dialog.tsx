/** Starts a workflow with an input that its schema describes. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { defineText } from '../../text/define-text.ts';
import { useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed, Loading } from '../../ui/page.tsx';
import { useSchemaForm } from '../../ui/schema-form/schema-form.tsx';

const text = defineText({
  en: { title: (name: string) => `Start ${name}`, start: 'Start', cancel: 'Not now', none: 'It needs no input.' },
  de: {
    title: (name) => `${name} starten`,
    start: 'Starten',
    cancel: 'Jetzt nicht',
    none: 'Er braucht keine Eingabe.',
  },
});

interface StartDialogProps {
  readonly workflowId: string;
  /** The input to begin with: of the run that is started again. */
  readonly initial?: unknown;
  onClose(): void;
}

export function StartDialog({ workflowId, initial, onClose }: StartDialogProps): ReactElement {
  const words = useText(text);
  const version = useRead('getWorkflowVersion', { params: { workflowId, version: 'active' } });
  if (version.data !== undefined) return <StartForm version={version.data} initial={initial} onClose={onClose} />;
  return (
    <Dialog title={words.title(workflowId)} onClose={onClose}>
      {version.isError ? <Failed error={version.error} /> : <Loading />}
    </Dialog>
  );
}

interface StartFormProps extends Pick<StartDialogProps, 'initial' | 'onClose'> {
  readonly version: AnswerOf<'getWorkflowVersion'>;
}

function StartForm({ version, initial, onClose }: StartFormProps): ReactElement {
  const words = useText(text);
  const [, navigate] = useLocation();
  const { workflowId } = version;
  const { input, name } = version.definition as { readonly input?: unknown; readonly name?: string };
  const form = useSchemaForm(input, initial);
  const start = useChange('startExecution', {
    refreshes: ['listExecutions', 'countExecutions'],
    onDone: ({ executionId }) => {
      onClose();
      navigate(runPath(executionId));
    },
  });
  const submit = (): void => {
    const given = input === undefined ? { value: initial } : form.read();
    if (given === undefined) return;
    start.mutate({ body: { workflowId, ...(given.value !== undefined && { input: given.value }) } });
  };
  return (
    <Dialog
      title={words.title(name ?? workflowId)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" icon="play" type="submit" isBusy={start.isPending}>
            {words.start}
          </Button>
        </>
      }
    >
      {input === undefined ? <p className="muted">{words.none}</p> : form.element}
    </Dialog>
  );
}
