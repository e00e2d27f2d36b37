/** The payload of a signal or a call that a node waits for, on its card. */
import { type ReactElement, useState } from 'react';
import { useChange } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field } from '../../ui/controls.tsx';
import { readJson } from '../../ui/schema-form/fields.ts';
import { inboxText } from './inbox-text.ts';
import type { Task } from './task.ts';

interface SendPanelProps {
  readonly task: Task;
  onAnswered(): void;
  onClose(): void;
}

export function SendPanel({ task, onAnswered, onClose }: SendPanelProps): ReactElement {
  const words = useText(inboxText);
  const [payload, setPayload] = useState('');
  const [problem, setProblem] = useState<string>();
  const done = { done: words.accepted, onDone: onAnswered };
  const signal = useChange('signalExecution', done);
  const call = useChange('callBack', done);
  const submit = (): void => {
    const read = payload.trim() === '' ? undefined : readJson(payload);
    if (read !== undefined && 'problem' in read) return setProblem(words.notJson);
    const { executionId, node, signal: name = '', key } = task;
    const given = read === undefined ? {} : { payload: read.value };
    if (task.kind === 'callback') call.mutate({ params: { executionId }, body: { node, ...given } });
    else
      signal.mutate({ params: { executionId }, body: { signal: name, ...(key !== undefined && { key }), ...given } });
  };
  return (
    <form
      className="task-panel"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Field label={words.payload} hint={words.payloadHint} problem={problem}>
        {(ids) => (
          <textarea
            {...ids}
            className="textarea"
            rows={3}
            spellCheck={false}
            value={payload}
            onChange={({ target }) => setPayload(target.value)}
          />
        )}
      </Field>
      <div className="task-actions">
        <Button onClick={onClose}>{words.back}</Button>
        <Button kind="primary" icon="bolt" type="submit" isBusy={signal.isPending || call.isPending}>
          {task.kind === 'signal' ? words.send : words.call}
        </Button>
      </div>
    </form>
  );
}
