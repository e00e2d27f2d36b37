/** Test runs of the text as it is: the whole, up to a node, or one node alone, with pinned outputs. */
import type { BodyOf } from '@nebula/client';
import { isJsonObject, type Json } from '@nebula/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useChange } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button, IconButton } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useSchemaForm } from '../../ui/schema-form/schema-form.tsx';
import { Status } from '../../ui/status.tsx';
import { editorText } from './editor-text.ts';
import type { LastRun } from './use-last-run.ts';
import type { Pins } from './use-pins.ts';

/** What part runs. */
export interface TestScope {
  readonly until?: string;
  readonly only?: string;
}

interface TestDialogProps {
  readonly scope: TestScope;
  readonly text: string;
  readonly data: Json;
  readonly project: string;
  readonly lastRun: LastRun;
  readonly pins: Pins;
  onStarted(executionId: string): void;
  onClose(): void;
}

export function TestDialog({
  scope,
  text,
  data,
  project,
  lastRun,
  pins,
  onStarted,
  onClose,
}: TestDialogProps): ReactElement {
  const { run: words, saveDialog, testUntil, testOnly } = useText(editorText);
  const schema = isJsonObject(data) ? data.input : undefined;
  const form = useSchemaForm(schema, lastRun.document?.input ?? undefined);
  const start = useChange('startTest', {
    onDone: ({ executionId }) => {
      onStarted(executionId);
      onClose();
    },
  });
  const submit = (): void => {
    const given = schema === undefined ? { value: undefined } : form.read();
    if (given !== undefined)
      start.mutate({ body: testBody({ scope, text, project, lastRun, pins, input: given.value }) });
  };
  const count = Object.keys(pins.all).length;
  return (
    <Dialog
      title={
        scope.only !== undefined
          ? `${testOnly}: ${scope.only}`
          : scope.until !== undefined
            ? `${testUntil}: ${scope.until}`
            : words.title
      }
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          {count > 0 && <span className="muted spring">{words.pinned(count)}</span>}
          <Button onClick={onClose}>{saveDialog.cancel}</Button>
          <Button kind="primary" icon="play" type="submit" isBusy={start.isPending}>
            {words.start}
          </Button>
        </>
      }
    >
      {schema === undefined ? <p className="muted">{words.none}</p> : form.element}
    </Dialog>
  );
}

interface TestRequest extends Pick<TestDialogProps, 'scope' | 'text' | 'project' | 'lastRun' | 'pins'> {
  readonly input: unknown;
}

/** Alone, a node gets the results of the nodes before it from the last run that ended. */
function testBody({ scope, text, project, lastRun, pins, input }: TestRequest): BodyOf<'startTest'> {
  const { document } = lastRun;
  const from =
    scope.only !== undefined && document !== undefined && document.finishedAt !== null
      ? document.executionId
      : undefined;
  const pinned = Object.entries(pins.all).filter(([path]) => path !== scope.only && path !== scope.until);
  return {
    source: text,
    project,
    ...scope,
    ...(input !== undefined && { input }),
    ...(from !== undefined && { from }),
    ...(pinned.length > 0 && { pins: Object.fromEntries(pinned.map(([path, { output }]) => [path, { output }])) }),
  };
}

/** The state of the test run, over the canvas. */
export function TestBar({ lastRun, onClose }: { readonly lastRun: LastRun; onClose(): void }): ReactElement | null {
  const { run: words, inspector } = useText(editorText);
  const format = useFormat();
  const { document } = lastRun;
  if (document === undefined) return null;
  return (
    <div className="test-bar" role="status">
      <Status status={document.status} />
      <span>{words.done}</span>
      {document.durationMs !== null && <span className="muted">{format.duration(document.durationMs)}</span>}
      {document.error !== null && <span className="truncate test-error">{document.error.message}</span>}
      <span className="spring" />
      <Link href={runPath(document.executionId)}>{words.open}</Link>
      <IconButton icon="close" label={inspector.close} onClick={onClose} />
    </div>
  );
}

/** The whole, up to the selected node, or that node alone. */
export function TestMenu({
  node,
  isDisabled,
  onTest,
}: {
  readonly node: string | undefined;
  readonly isDisabled: boolean;
  onTest(scope: TestScope): void;
}): ReactElement {
  const words = useText(editorText);
  return (
    <span className="test-menu">
      <Button icon="play" disabled={isDisabled} onClick={() => onTest({})}>
        {words.test}
      </Button>
      <Menu
        label={words.testMore}
        className="icon-button"
        items={[
          {
            label: words.testUntil,
            isDisabled: isDisabled || node === undefined,
            onChoose: () => node !== undefined && onTest({ until: node }),
          },
          {
            label: words.testOnly,
            isDisabled: isDisabled || node === undefined,
            onChoose: () => node !== undefined && onTest({ only: node }),
          },
        ]}
      >
        <Icon name="down" size={12} />
      </Menu>
    </span>
  );
}
