/** Error and output of one node in both runs. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { useRead } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Status } from '../../ui/status.tsx';
import { ValueView } from '../run/value-view.tsx';
import { compareText } from './compare-text.ts';

type RunDocument = AnswerOf<'getExecution'>;

export function NodeValues({
  a,
  b,
  node,
}: {
  readonly a: RunDocument;
  readonly b: RunDocument;
  readonly node: string;
}): ReactElement {
  return (
    <section className="compare-sides" aria-label={node}>
      <Values run={a} node={node} />
      <Values run={b} node={node} />
    </section>
  );
}

function Values({ run, node }: { readonly run: RunDocument; readonly node: string }): ReactElement {
  const words = useText(compareText);
  const format = useFormat();
  const { executionId } = run;
  const document = run.nodes[node];
  const values = useRead(
    'getValues',
    { params: { executionId }, query: { node } },
    { enabled: document !== undefined },
  );
  if (document === undefined) return <p className="muted">{words.absent}</p>;
  return (
    <div className="compare-values">
      <header>
        <strong>{node}</strong>
        <Status status={document.status} />
        {document.durationMs !== null && <span className="muted">{format.duration(document.durationMs)}</span>}
      </header>
      {document.error !== null && (
        <div className="error-box">
          <strong>{document.error.code}</strong>
          <p>{document.error.message}</p>
        </div>
      )}
      <h3>{words.output}</h3>
      <ValueView
        executionId={executionId}
        name="output"
        value={values.data?.output}
        isPending={values.isPending}
        isOver
      />
    </div>
  );
}
