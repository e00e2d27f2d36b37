/** The reason for the state of a node or run, as sentences that lead to their causes. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useRead } from '../../data/queries.ts';
import { useFormat, useLanguage, useText } from '../../text/use-text.ts';
import { Status } from '../../ui/status.tsx';
import { sentenceOf } from './cause-text.ts';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

interface WhyProps {
  readonly run: RunData;
  readonly view: RunView;
  onSelect(node: string): void;
}

type Cause = AnswerOf<'explainExecution'>['causes'][number];

export function Why({ run, view, onSelect }: WhyProps): ReactElement {
  const words = useText(runText);
  const language = useLanguage();
  const format = useFormat();
  const { executionId } = run.document;
  const { node, seq } = view;
  const query = { ...(node !== undefined && { node }), ...(seq !== undefined && { at: seq }) };
  const why = useRead('explainExecution', { params: { executionId }, query }, { keepsPrevious: true });
  if (why.data === undefined) return <div className="why" />;
  const { status, causes } = why.data;
  return (
    <div className="why" aria-label={words.why} role="note">
      <Status status={status} />
      <ul>
        {causes.map((cause) => (
          <li key={`${cause.code} ${cause.message}`}>
            {sentenceOf(cause, language, format, view.time)}
            <CauseLink cause={cause} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function CauseLink({ cause, onSelect }: { readonly cause: Cause; onSelect(node: string): void }): ReactElement | null {
  const { node, link } = cause;
  if (link !== undefined) {
    return (
      <Link href={runPath(link.executionId, { node: link.node })}> {link.node ?? link.executionId.slice(-8)} →</Link>
    );
  }
  if (node === undefined) return null;
  return (
    <button type="button" className="link" onClick={() => onSelect(node)}>
      {node} →
    </button>
  );
}
