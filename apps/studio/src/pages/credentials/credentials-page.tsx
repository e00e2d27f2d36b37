/** Secrets of the project: names and dates. Values go in, and never come out. */
import { type ReactElement, useState } from 'react';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useChange, useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Button, IconButton } from '../../ui/controls.tsx';
import { Listed } from '../../ui/listed.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { CredentialDialog } from './credential-dialog.tsx';
import { credentialsText } from './credentials-text.ts';
import '../../ui/table.css';
import './credentials.css';

export default function CredentialsPage(): ReactElement {
  const words = useText(credentialsText);
  const format = useFormat();
  const now = useNow(60_000);
  const { project } = useStudio();
  const mayChange = useMay('owner');
  const [edited, setEdited] = useState<string>();
  const [removed, setRemoved] = useState<string>();
  const list = useList('listSecrets', { query: { project, limit: 100 } });
  const create = mayChange && (
    <Button kind="primary" icon="plus" onClick={() => setEdited('')}>
      {words.create}
    </Button>
  );
  return (
    <Page title={words.title} note={list.items.length > 0 && words.note} actions={list.items.length > 0 && create}>
      <Listed
        list={list}
        empty={
          <Empty title={words.emptyTitle} actions={create}>
            <p>{words.empty}</p>
          </Empty>
        }
      >
        {(secrets) => (
          <table className="table credential-table">
            <thead>
              <tr>
                <th>{words.name}</th>
                <th>{words.updated}</th>
                <th aria-label={words.replace} />
              </tr>
            </thead>
            <tbody>
              {secrets.map(({ name, updatedAt }) => (
                <tr key={name}>
                  <td className="cell-main mono">{name}</td>
                  <td className="muted" title={updatedAt === null ? undefined : format.full(Date.parse(updatedAt))}>
                    {updatedAt === null ? words.earlier : format.relative(Date.parse(updatedAt), now)}
                  </td>
                  <td className="cell-number">
                    {mayChange && (
                      <>
                        <Button kind="quiet" onClick={() => setEdited(name)} aria-label={words.replaceTitle(name)}>
                          {words.replace}
                        </Button>
                        <IconButton icon="trash" label={words.removeTitle(name)} onClick={() => setRemoved(name)} />
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Listed>
      {edited !== undefined && <CredentialDialog name={edited} onClose={() => setEdited(undefined)} />}
      {removed !== undefined && <RemoveDialog name={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  );
}

function RemoveDialog({ name, onClose }: { readonly name: string; onClose(): void }): ReactElement {
  const words = useText(credentialsText);
  const { project } = useStudio();
  const remove = useChange('deleteSecret', { refreshes: ['listSecrets'], done: words.removed, onDone: onClose });
  return (
    <ConfirmDialog
      title={words.removeTitle(name)}
      confirm={words.remove}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { name }, query: { project } })}
      onClose={onClose}
    >
      <p>{words.removeWhat}</p>
    </ConfirmDialog>
  );
}
