/** The header of a run: what it is, how it stands, and the one thing to do about it. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { runPath, workflowPath } from '../../app/routes.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge, IconButton } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { notify } from '../../ui/notices.ts';
import { Status } from '../../ui/status.tsx';
import { RunActions } from './run-actions.tsx';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

interface RunHeaderProps {
  readonly run: RunData;
  readonly view: RunView;
  onSelect(node: string | undefined): void;
}

export function RunHeader({ run, view, onSelect }: RunHeaderProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const { document, definition } = run;
  const { executionId, workflowId, version, trigger, parent, startedAt } = document;
  const began = startedAt === null ? undefined : Date.parse(startedAt);
  const type = triggerType(trigger);
  return (
    <header className="run-header">
      <Status status={view.status} />
      <nav className="crumbs" aria-label={words.run}>
        {parent !== null && (
          <>
            <Link href={runPath(parent.executionId, { node: parent.node })} title={words.parent}>
              {parent.executionId.slice(-8)}
            </Link>
            <Icon name="chevron" size={12} />
          </>
        )}
        <Link href={workflowPath(workflowId)} className="run-name truncate">
          {definition.name ?? workflowId}
        </Link>
      </nav>
      <span className="muted">{words.version(version)}</span>
      <button
        type="button"
        className="run-focus mono muted truncate"
        title={executionId}
        onClick={() => onSelect(undefined)}
      >
        {executionId}
      </button>
      <IconButton
        icon="copy"
        className="run-copy"
        label={words.copyId}
        onClick={() =>
          void navigator.clipboard.writeText(executionId).then(() => notify({ kind: 'done', message: words.copied }))
        }
      />
      {type === 'test' && <Badge kind="accent">{words.test}</Badge>}
      {type !== undefined && isKnown(type, words.triggers) && (
        <span className="muted run-trigger">{words.startedBy(words.triggers[type])}</span>
      )}
      <span className="spring" />
      {began !== undefined && (
        <span className="run-duration" title={format.full(began)}>
          {format.duration(Math.max(0, view.time - began))}
        </span>
      )}
      <RunActions run={run} view={view} />
    </header>
  );
}

function triggerType(trigger: unknown): string | undefined {
  if (typeof trigger !== 'object' || trigger === null || !('type' in trigger)) return undefined;
  return typeof trigger.type === 'string' ? trigger.type : undefined;
}

function isKnown<T extends object>(name: string, known: T): name is Extract<keyof T, string> {
  return Object.hasOwn(known, name);
}
