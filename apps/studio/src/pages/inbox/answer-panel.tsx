/** The form of an approval, on its card. */
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { useChange } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, TextInput } from '../../ui/controls.tsx';
import { useSchemaForm } from '../../ui/schema-form/schema-form.tsx';
import { inboxText } from './inbox-text.ts';
import type { Task } from './task.ts';

interface AnswerPanelProps {
  readonly task: Task;
  readonly isApproval: boolean;
  onAnswered(): void;
  onClose(): void;
}

export function AnswerPanel({ task, isApproval, onAnswered, onClose }: AnswerPanelProps): ReactElement {
  const words = useText(inboxText);
  const [comment, setComment] = useState('');
  const form = useSchemaForm(task.form);
  const hasForm = isApproval && task.form !== undefined;
  const panel = useRef<HTMLFormElement>(null);
  // What is next has the focus: the first field, else the button that confirms.
  useEffect(() => {
    panel.current
      ?.querySelector<HTMLElement>(hasForm ? '.schema-form input, .schema-form select' : '[type=submit]')
      ?.focus();
  }, [hasForm]);
  const answer = useChange('answerApproval', {
    done: words.accepted,
    onDone: onAnswered,
  });
  const submit = (): void => {
    const given = hasForm ? form.read() : undefined;
    if (hasForm && given === undefined) return;
    const { node, executionId } = task;
    const body = {
      node,
      approved: isApproval,
      ...(comment !== '' && { comment }),
      ...(given !== undefined && { form: given.value }),
    };
    answer.mutate({ params: { executionId }, body });
  };
  return (
    <form
      ref={panel}
      className="task-panel"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {hasForm && form.element}
      <Field label={words.comment}>
        {(ids) => <TextInput {...ids} value={comment} onChange={({ target }) => setComment(target.value)} />}
      </Field>
      <div className="task-actions">
        <Button onClick={onClose}>{words.back}</Button>
        <Button kind={isApproval ? 'primary' : 'danger'} type="submit" isBusy={answer.isPending}>
          {isApproval ? words.confirmApprove : words.confirmReject}
        </Button>
      </div>
    </form>
  );
}
