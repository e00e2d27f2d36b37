/** Saves the text as a version: what it changes, what it may use, and whether it becomes the active one. */
import type { AnswerOf, BodyOf } from '@nebula/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { api } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.ts';
import { Failed, Loading } from '../../ui/page.tsx';
import { editorText } from './editor-text.ts';

interface SaveDialogProps {
  readonly workflowId: string;
  /** There is no version yet. */
  readonly isNew: boolean;
  readonly project: string;
  readonly text: string;
  readonly filename: string | undefined;
  /** The file that a save can be written into. */
  readonly file: string | undefined;
  readonly isValid: boolean;
  /** The fields for a workflow that gets its first version. */
  readonly names?: ReactNode;
  onClose(): void;
  onSaved(version: number, workflowId: string): void;
}

interface Preview {
  /** Null: there is no version yet. */
  readonly comparison: AnswerOf<'compareWorkflow'> | null;
  readonly validation: AnswerOf<'validateWorkflow'>;
}

export function SaveDialog({
  workflowId,
  isNew,
  project,
  text,
  filename,
  file,
  isValid,
  names,
  onClose,
  onSaved,
}: SaveDialogProps): ReactElement {
  const { saveDialog: words } = useText(editorText);
  const [activates, setActivates] = useState(true);
  const [toFile, setToFile] = useState(file !== undefined);
  const body = { source: text, project, ...(filename !== undefined && { filename }) };
  const preview = useQuery({
    queryKey: ['save-preview', workflowId, text],
    queryFn: async (): Promise<Preview> => {
      const [comparison, validation] = await Promise.all([
        isNew ? null : api.call('compareWorkflow', { params: { workflowId }, body }),
        api.call('validateWorkflow', { body }),
      ]);
      return { comparison, validation };
    },
    enabled: isValid,
    retry: false,
  });
  const save = useChange('registerWorkflow', {
    refreshes: ['getWorkflow', 'getWorkflowVersion', 'listWorkflowVersions', 'listWorkflows'],
    onDone: (answer) => {
      notify({ kind: 'done', message: words.done(answer.version) });
      onSaved(answer.version, answer.workflowId);
    },
  });
  return (
    <Dialog
      title={words.title}
      isWide
      onClose={onClose}
      onSubmit={() => save.mutate({ body: { ...body, activate: activates, saveToFile: toFile } })}
      actions={
        <>
          {!isValid && <span className="field-problem spring">{words.invalid}</span>}
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" type="submit" disabled={!isValid} isBusy={save.isPending}>
            {words.save}
          </Button>
        </>
      }
    >
      {names}
      {isValid && preview.isPending && <Loading />}
      {preview.isError && <Failed error={preview.error} />}
      {preview.data !== undefined && (
        <div className="save-columns">
          <Changes comparison={preview.data.comparison} />
          <ManifestList manifest={preview.data.validation.manifest} />
        </div>
      )}
      {isValid && !isNew && <RehearsalResult workflowId={workflowId} body={body} />}
      <label className="check-row">
        <input type="checkbox" checked={activates} onChange={({ target }) => setActivates(target.checked)} />
        {words.activate}
      </label>
      {file !== undefined && (
        <label className="check-row">
          <input type="checkbox" checked={toFile} onChange={({ target }) => setToFile(target.checked)} />
          {words.toFile(file)}
        </label>
      )}
    </Dialog>
  );
}

const SIGNS = { added: '+', removed: '−', renamed: '→', changed: '~' } as const;

function Changes({ comparison }: { readonly comparison: AnswerOf<'compareWorkflow'> | null }): ReactElement {
  const { saveDialog: words } = useText(editorText);
  const structure = comparison?.structure;
  const count =
    structure === undefined ? 0 : structure.nodes.length + structure.edges.length + structure.workflow.length;
  return (
    <section>
      <h3>{words.changes}</h3>
      {comparison === null && <p className="muted">{words.newOne}</p>}
      {comparison !== null && count === 0 && (
        <p className="muted">
          {words.none} {comparison.from}
        </p>
      )}
      <ul className="changes">
        {structure?.nodes.map(({ change, path, from, keys }) => (
          <li key={`node-${path}`} className={`change-${change}`}>
            <span className="change-sign" aria-hidden="true">
              {SIGNS[change]}
            </span>
            <span className="mono">{from === undefined ? path : `${from} → ${path}`}</span>
            <span className="muted truncate">
              {keys === undefined || keys.length === 0 ? words.change[change] : keys.join(', ')}
            </span>
          </li>
        ))}
        {structure?.edges.map(({ change, from, to, label }) => (
          <li key={`edge-${change}-${from}-${to}-${label ?? ''}`} className={`change-${change}`}>
            <span className="change-sign" aria-hidden="true">
              {SIGNS[change]}
            </span>
            <span className="mono">
              {from} → {to}
            </span>
            <span className="muted truncate">{label ?? words.change[change]}</span>
          </li>
        ))}
        {structure?.workflow.map((key) => (
          <li key={`key-${key}`} className="change-changed">
            <span className="change-sign" aria-hidden="true">
              ~
            </span>
            <span className="mono">{key}</span>
            <span className="muted">{words.change.changed}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ManifestList({
  manifest,
}: {
  readonly manifest: AnswerOf<'validateWorkflow'>['manifest'];
}): ReactElement | null {
  const { saveDialog: words } = useText(editorText);
  if (manifest === undefined) return null;
  const capabilities = capabilityLines(manifest.capabilities);
  return (
    <section>
      <h3>{words.asks}</h3>
      {capabilities.length === 0 && manifest.credentials.length === 0 && <p className="muted">{words.nothing}</p>}
      <ul className="manifest">
        {capabilities.map(({ kind, entries }) => (
          <li key={kind}>
            <strong>{kind}</strong>
            <span className="mono">{entries.join(', ')}</span>
          </li>
        ))}
        {manifest.credentials.length > 0 && (
          <li>
            <strong>{words.secrets}</strong>
            <span className="mono">{manifest.credentials.map(({ secret }) => secret).join(', ')}</span>
          </li>
        )}
        {manifest.triggers.length > 0 && (
          <li>
            <strong>{words.triggers}</strong>
            <span className="mono">{manifest.triggers.map(({ text }) => text).join(', ')}</span>
          </li>
        )}
        <li>
          <strong>{words.actions}</strong>
          <span className="mono">
            {manifest.actions.map(({ action, effect }) => (effect === 'once' ? `${action} (once)` : action)).join(', ')}
          </span>
        </li>
      </ul>
    </section>
  );
}

function capabilityLines(capabilities: unknown): { readonly kind: string; readonly entries: readonly string[] }[] {
  if (typeof capabilities !== 'object' || capabilities === null) return [];
  return Object.entries(capabilities).flatMap(([kind, value]) => {
    if (Array.isArray(value)) return value.length === 0 ? [] : [{ kind, entries: value.map(String) }];
    return capabilityLines(value).map((line) => ({ ...line, kind: `${kind}.${line.kind}` }));
  });
}

/** The last runs, replayed against the text: which would have gone another way, and where. */
function RehearsalResult({
  workflowId,
  body,
}: {
  readonly workflowId: string;
  readonly body: Pick<BodyOf<'rehearseWorkflow'>, 'source' | 'project' | 'filename'>;
}): ReactElement | null {
  const { saveDialog: words } = useText(editorText);
  const rehearsal = useQuery({
    queryKey: ['rehearsal', workflowId, body.source],
    queryFn: () => api.call('rehearseWorkflow', { params: { workflowId }, body }),
    retry: false,
  });
  if (rehearsal.isError) return null;
  const { counts, runs } = rehearsal.data ?? { counts: { same: 0, differs: 0, notReplayed: 0 }, runs: [] };
  if (rehearsal.data !== undefined && runs.length === 0) return null;
  return (
    <section className="rehearsal">
      <h3>{words.rehearsal}</h3>
      {rehearsal.data === undefined ? (
        <p className="muted">{words.rehearsing}</p>
      ) : (
        <p>
          <strong className="rehearsal-same">{words.runsSame(counts.same)}</strong>
          {counts.differs > 0 && <strong className="rehearsal-differs">{words.runsDiffer(counts.differs)}</strong>}
          {counts.notReplayed > 0 && <span className="muted">{words.runsNot(counts.notReplayed)}</span>}
        </p>
      )}
      <ul>
        {runs
          .filter(({ result }) => result === 'differs')
          .slice(0, 5)
          .map(({ executionId, difference }) => (
            <li key={executionId}>
              <Link href={runPath(executionId)} className="mono truncate">
                {executionId}
              </Link>
              <span className="muted truncate" title={difference?.text}>
                {difference?.text}
              </span>
            </li>
          ))}
      </ul>
    </section>
  );
}
