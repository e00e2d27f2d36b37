/** A value of a run. A large one is shown by its beginning, and never loaded as a whole. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { useFormat, useText } from '../../text/use-text.ts';
import { Loading } from '../../ui/page.tsx';
import { ValueTree } from '../../ui/value-tree.tsx';
import { runText } from './run-text.ts';

type Preview = NonNullable<AnswerOf<'getValues'>['output']>;

interface ValueViewProps {
  readonly executionId: string;
  readonly name: 'output' | 'input' | 'variables';
  readonly value: Preview | null | undefined;
  readonly isPending: boolean;
  /** Nothing can come any more. */
  readonly isOver: boolean;
}

export function ValueView({ executionId, name, value, isPending, isOver }: ValueViewProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  if (isPending) return <Loading />;
  if (value === undefined || value === null)
    return <p className="muted inspector-note">{isOver ? words.none : words.notYet}</p>;
  if ('value' in value) {
    if (value.value === null) return <p className="muted inspector-note">{words.none}</p>;
    return <ValueTree value={value.value} label={words.tabs[name]} />;
  }
  return (
    <>
      <p className="inspector-note">
        {words.large(format.bytes(value.bytes))}{' '}
        {value.sha256 !== undefined && (
          <a
            href={`/api/v1/executions/${encodeURIComponent(executionId)}/blobs/${value.sha256}`}
            download={`${executionId}-${name}.json`}
          >
            {words.download}
          </a>
        )}
      </p>
      <pre className="value-beginning">{value.beginning}</pre>
    </>
  );
}
