/**
 * Retries the failed nodes of a run. If another version of the workflow is active by now, the run can move to it before:
 * for each node that has run and is changed, a person decides whether its result stays.
 */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { useChange, useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Select } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading } from '../../ui/page.tsx';
import { actionText } from './action-text.ts';
import type { RunData } from './use-run.ts';

type Change = AnswerOf<'migrateExecution'>['changes'][number];
type Decision = Change['choices'][number];

const CHANGED = ['getExecution', 'explainExecution', 'getValues', 'getDefinition'] as const;

export function RetryDialog({ run, onClose }: { readonly run: RunData; onClose(): void }): ReactElement {
  const words = useText(actionText);
  const { executionId, workflowId, version } = run.document;
  const [isSame, setSame] = useState(false);
  const [decisions, setDecisions] = useState<Readonly<Record<string, Decision>>>({});
  const workflow = useRead('getWorkflow', { params: { workflowId } });
  const active = workflow.data?.activeVersion ?? undefined;
  const mended = active === undefined || active === version ? undefined : active;
  const migration = useMigrationPreview(executionId, mended);
  const blocked = blockOf(migration);
  const moves = mended !== undefined && !isSame && blocked === undefined;
  const retry = useChange('retryExecution', { refreshes: CHANGED, onDone: onClose });
  const migrate = useChange('migrateExecution', {
    onDone: () => retry.mutate({ params: { executionId }, body: {} }),
  });
  const submit = (): void => {
    if (!moves) return retry.mutate({ params: { executionId }, body: {} });
    const decided = (wanted: Decision): string[] =>
      (migration?.changes ?? []).flatMap((change) => (decisionOf(change, decisions) === wanted ? [change.node] : []));
    const body = { version: mended, keep: decided('keep'), again: decided('again'), drop: decided('drop') };
    return migrate.mutate({ params: { executionId }, body });
  };
  const isReady = workflow.data !== undefined && (mended === undefined || migration !== undefined);
  return (
    <Dialog
      title={words.retryTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button
            kind="primary"
            icon="retry"
            type="submit"
            disabled={!isReady && !workflow.isError}
            isBusy={retry.isPending || migrate.isPending}
          >
            {words.retry}
          </Button>
        </>
      }
    >
      {mended !== undefined && (
        <div role="radiogroup" aria-label={words.retryTitle}>
          <label className="check-row">
            <input type="radio" checked={moves} disabled={blocked !== undefined} onChange={() => setSame(false)} />
            {words.retryMended(mended)}
          </label>
          <label className="check-row">
            <input type="radio" checked={!moves} onChange={() => setSame(true)} />
            {words.retrySame(version)}
          </label>
        </div>
      )}
      {blocked !== undefined && <p className="field-problem">{words.retryBlocked(blocked)}</p>}
      {!isReady && !workflow.isError ? (
        <Loading />
      ) : moves && migration !== undefined ? (
        <Changes
          changes={migration.changes}
          decisions={decisions}
          onDecide={(node, decision) => setDecisions({ ...decisions, [node]: decision })}
        />
      ) : (
        <FailedNodes run={run} />
      )}
    </Dialog>
  );
}

/** What a move to the version would do; undefined until it is known. */
function useMigrationPreview(
  executionId: string,
  version: number | undefined,
): AnswerOf<'migrateExecution'> | undefined {
  const options = { params: { executionId }, body: { dryRun: true, ...(version !== undefined && { version }) } };
  return useRead('migrateExecution', options, { enabled: version !== undefined }).data;
}

/** A refusal that no decision can lift. */
function blockOf(migration: AnswerOf<'migrateExecution'> | undefined): string | undefined {
  const refusal = migration?.refusal ?? undefined;
  return refusal === undefined || refusal.code === 'DECISION_NEEDED' ? undefined : refusal.message;
}

/** By default a changed node runs again: its result is from the version that failed. */
function decisionOf({ node, choices }: Change, decisions: Readonly<Record<string, Decision>>): Decision | undefined {
  return decisions[node] ?? (choices.includes('again') ? 'again' : choices[0]);
}

interface ChangesProps {
  readonly changes: readonly Change[];
  readonly decisions: Readonly<Record<string, Decision>>;
  onDecide(node: string, decision: Decision): void;
}

function Changes({ changes, decisions, onDecide }: ChangesProps): ReactElement {
  const words = useText(actionText);
  if (changes.length === 0) return <p className="muted">{words.retryNoChanges}</p>;
  return (
    <>
      <p>{words.retryChanges}</p>
      <ul className="consequences">
        {changes.map((change) => (
          <li key={change.node} className="retry-change">
            <span>
              <strong>{change.node}</strong> <span className="muted">{words.retryNodeChange[change.change]}</span>
            </span>
            {change.choices.length > 0 && (
              <Select
                aria-label={words.retryDecision(change.node)}
                value={decisionOf(change, decisions)}
                onChange={({ target }) => onDecide(change.node, target.value as Decision)}
              >
                {change.choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {words.retryDecisions[choice]}
                  </option>
                ))}
              </Select>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function FailedNodes({ run }: { readonly run: RunData }): ReactElement {
  const words = useText(actionText);
  const failed = Object.entries(run.document.nodes).filter(
    ([, { status }]) => status === 'failed' || status === 'cancelled',
  );
  return (
    <>
      <p>{words.retryWhat}</p>
      <ul className="consequences">
        {failed.map(([path, { error }]) => (
          <li key={path}>
            <strong>{path}</strong> {error !== null && <span className="muted">{error.message}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
