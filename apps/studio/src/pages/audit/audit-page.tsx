/** Who changed what. */
import type { AnswerOf } from '@nebula/client';
import { Fragment, type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button, IconButton, SearchInput } from '../../ui/controls.tsx';
import { Listed } from '../../ui/listed.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { ValueTree } from '../../ui/value-tree.tsx';
import { auditText } from './audit-text.ts';
import '../../ui/table.css';
import './audit.css';

type Entry = AnswerOf<'listAudit'>['items'][number];

export default function AuditPage(): ReactElement {
  const words = useText(auditText);
  const [{ who, entry: opened }, setQuery] = useQueryState('who', 'entry');
  const [typed, setTyped] = useState(who ?? '');
  const list = useList('listAudit', { query: { ...(who !== undefined && { who }), limit: 50 } });
  const show = (name: string): void => setQuery({ who: name === '' ? undefined : name }, { replace: true });
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={
        <form
          onSubmit={(event) => {
            event.preventDefault();
            show(typed.trim());
          }}
        >
          <SearchInput
            label={words.filter}
            value={typed}
            onText={(text) => {
              setTyped(text);
              if (text === '') show('');
            }}
            onBlur={() => show(typed.trim())}
          />
        </form>
      }
    >
      <Listed
        list={list}
        empty={
          who === undefined ? (
            <Empty title={words.emptyTitle}>
              <p>{words.empty}</p>
            </Empty>
          ) : (
            <Empty
              title={words.emptyFiltered}
              actions={
                <Button
                  onClick={() => {
                    setTyped('');
                    show('');
                  }}
                >
                  {words.clear}
                </Button>
              }
            />
          )
        }
      >
        {(entries) => (
          <AuditTable entries={entries} opened={opened} onOpen={(entry) => setQuery({ entry }, { replace: true })} />
        )}
      </Listed>
    </Page>
  );
}

interface AuditTableProps {
  readonly entries: readonly Entry[];
  readonly opened: string | undefined;
  onOpen(id: string | undefined): void;
}

function AuditTable({ entries, opened, onOpen }: AuditTableProps): ReactElement {
  const words = useText(auditText);
  return (
    <table className="table audit-table">
      <thead>
        <tr>
          <th>{words.at}</th>
          <th>{words.who}</th>
          <th>{words.operation}</th>
          <th>{words.target}</th>
          <th>{words.project}</th>
          <th>{words.outcome}</th>
          <th aria-label={words.details} />
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Fragment key={entry.id}>
            <AuditRow
              entry={entry}
              isOpen={entry.id === opened}
              onOpen={() => onOpen(entry.id === opened ? undefined : entry.id)}
            />
            {entry.id === opened && (
              <tr className="audit-details">
                <td colSpan={7}>
                  {isEmpty(entry.details) ? (
                    <p className="muted">{words.none}</p>
                  ) : (
                    <ValueTree value={entry.details} label={words.details} />
                  )}
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function isEmpty(details: unknown): boolean {
  return (
    details === null || details === undefined || (typeof details === 'object' && Object.keys(details).length === 0)
  );
}

function AuditRow({
  entry,
  isOpen,
  onOpen,
}: {
  readonly entry: Entry;
  readonly isOpen: boolean;
  onOpen(): void;
}): ReactElement {
  const words = useText(auditText);
  const format = useFormat();
  const now = useNow(60_000);
  const { at, who, operation, target, project, outcome } = entry;
  const kind = outcome < 400 ? 'done' : outcome < 500 ? 'refused' : 'failed';
  return (
    <tr>
      <td className="muted" title={format.full(Date.parse(at))}>
        {format.moment(Date.parse(at), now)}
      </td>
      <td>{who}</td>
      <td className="cell-main">
        <span className="row-link">{operation}</span>
      </td>
      <td className="mono truncate" title={target ?? undefined}>
        {target?.startsWith('exe_') ? <Link href={runPath(target)}>{target}</Link> : target}
      </td>
      <td className="muted">{project}</td>
      <td className={`audit-${kind}`} title={`HTTP ${outcome}`}>
        {words[kind]}
      </td>
      <td className="cell-number">
        <IconButton
          icon={isOpen ? 'down' : 'chevron'}
          label={words.showDetails(operation)}
          aria-expanded={isOpen}
          onClick={onOpen}
        />
      </td>
    </tr>
  );
}
