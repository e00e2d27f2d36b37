/** API keys: created, shown once, revoked. */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useChange, useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Button, Field, Select, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Listed } from '../../ui/listed.tsx';
import { notify } from '../../ui/notices.ts';
import { Empty } from '../../ui/page.tsx';
import { keysText } from './keys-text.ts';
import { RoleFields, RoleList, type Roles } from './role-fields.tsx';
import { settingsText } from './settings-text.ts';

type Key = AnswerOf<'listKeys'>['items'][number];

const LIFETIMES = ['30d', '90d', '365d', ''] as const;

export function Keys(): ReactElement {
  const words = useText(keysText);
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<string>();
  const [revoked, setRevoked] = useState<Key>();
  const list = useList('listKeys', { query: { limit: 100 } });
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {words.create}
    </Button>
  );
  return (
    <>
      <Listed
        list={list}
        empty={
          <Empty title={words.emptyTitle} actions={create}>
            <p>{words.what}</p>
          </Empty>
        }
      >
        {(keys) => (
          <>
            <div className="settings-bar">
              <p className="muted">{words.what}</p>
              {create}
            </div>
            <KeyTable keys={keys} onRevoke={setRevoked} />
          </>
        )}
      </Listed>
      {isCreating && (
        <KeyDialog
          onClose={() => setCreating(false)}
          onMade={(token) => {
            setCreating(false);
            setMade(token);
          }}
        />
      )}
      {made !== undefined && <MadeDialog token={made} onClose={() => setMade(undefined)} />}
      {revoked !== undefined && <RevokeDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function KeyTable({ keys, onRevoke }: { readonly keys: readonly Key[]; onRevoke(key: Key): void }): ReactElement {
  const words = useText(keysText);
  const format = useFormat();
  const now = useNow(60_000);
  return (
    <table className="table">
      <thead>
        <tr>
          <th>{words.name}</th>
          <th>{words.owner}</th>
          <th>{words.roles}</th>
          <th>{words.created}</th>
          <th>{words.expires}</th>
          <th aria-label={words.revoke} />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => {
          const expires = key.expiresAt === null ? undefined : Date.parse(key.expiresAt);
          return (
            <tr key={key.keyId}>
              <td className="cell-main">
                <span className="row-link">{key.name}</span>
              </td>
              <td>{key.owner}</td>
              <td>
                <RoleList roles={key.roles} />
              </td>
              <td className="muted">{format.relative(Date.parse(key.createdAt), now)}</td>
              <td className="muted">
                {expires === undefined ? words.never : expires < now ? words.expired : format.relative(expires, now)}
              </td>
              <td className="cell-number">
                <Button kind="quiet" aria-label={words.revokeTitle(key.name)} onClick={() => onRevoke(key)}>
                  {words.revoke}
                </Button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function KeyDialog({ onClose, onMade }: { onClose(): void; onMade(token: string): void }): ReactElement {
  const words = useText(keysText);
  const common = useText(settingsText);
  const { project } = useStudio();
  const [name, setName] = useState('');
  const [roles, setRoles] = useState<Roles>({ [project]: 'viewer' });
  const [expires, setExpires] = useState<string>('90d');
  const [problem, setProblem] = useState<'name' | 'roles'>();
  const create = useChange('createKey', { refreshes: ['listKeys'], onDone: ({ token }) => onMade(token) });
  const submit = (): void => {
    const found = name.trim() === '' ? 'name' : Object.keys(roles).length === 0 ? 'roles' : undefined;
    setProblem(found);
    if (found === undefined) create.mutate({ body: { name: name.trim(), roles, ...(expires !== '' && { expires }) } });
  };
  return (
    <Dialog
      title={words.create}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{common.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending}>
            {words.create}
          </Button>
        </>
      }
    >
      <Field label={words.name} hint={words.nameHint} problem={problem === 'name' ? common.missing : undefined}>
        {(ids) => <TextInput {...ids} value={name} onChange={({ target }) => setName(target.value)} />}
      </Field>
      <h3>{words.roles}</h3>
      <RoleFields roles={roles} onChange={setRoles} />
      {problem === 'roles' && (
        <p className="field-problem" role="alert">
          {words.needsRole}
        </p>
      )}
      <Field label={words.lifetime}>
        {(ids) => (
          <Select {...ids} value={expires} onChange={({ target }) => setExpires(target.value)}>
            {LIFETIMES.map((value) => (
              <option key={value} value={value}>
                {words.lifetimes[value]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Dialog>
  );
}

function MadeDialog({ token, onClose }: { readonly token: string; onClose(): void }): ReactElement {
  const words = useText(keysText);
  const { copied } = useText(settingsText);
  return (
    <Dialog
      title={words.madeTitle}
      onClose={onClose}
      onSubmit={onClose}
      actions={
        <>
          <Button
            icon="copy"
            onClick={() =>
              void navigator.clipboard.writeText(token).then(() => notify({ kind: 'done', message: copied }))
            }
          >
            {words.copy}
          </Button>
          <Button kind="primary" type="submit">
            {words.done}
          </Button>
        </>
      }
    >
      <p>{words.made}</p>
      <pre className="command made-key">{token}</pre>
    </Dialog>
  );
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: Key; onClose(): void }): ReactElement {
  const words = useText(keysText);
  const revoke = useChange('deleteKey', { refreshes: ['listKeys'], done: words.revoked, onDone: onClose });
  return (
    <ConfirmDialog
      title={words.revokeTitle(apiKey.name)}
      confirm={words.revoke}
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate({ params: { keyId: apiKey.keyId } })}
      onClose={onClose}
    >
      <p>{words.revokeWhat}</p>
    </ConfirmDialog>
  );
}
