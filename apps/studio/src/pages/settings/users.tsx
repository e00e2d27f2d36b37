/** Users and their roles, for administrators. */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useChange, useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Badge, Button, Field, IconButton, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Listed } from '../../ui/listed.tsx';
import { RoleFields, RoleList, type Roles } from './role-fields.tsx';
import { settingsText } from './settings-text.ts';
import { usersText } from './users-text.ts';

type User = AnswerOf<'listUsers'>['items'][number];

export function Users(): ReactElement {
  const words = useText(usersText);
  const [edited, setEdited] = useState<User | 'new'>();
  const [removed, setRemoved] = useState<User>();
  const list = useList('listUsers', { query: { limit: 100 } });
  return (
    <>
      <div className="settings-bar">
        <span />
        <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
          {words.create}
        </Button>
      </div>
      <Listed list={list} empty={null}>
        {(users) => <UserTable users={users} onEdit={setEdited} onRemove={setRemoved} />}
      </Listed>
      {edited !== undefined && (
        <UserDialog user={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {removed !== undefined && <RemoveDialog user={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

interface UserTableProps {
  readonly users: readonly User[];
  onEdit(user: User): void;
  onRemove(user: User): void;
}

function UserTable({ users, onEdit, onRemove }: UserTableProps): ReactElement {
  const words = useText(usersText);
  const format = useFormat();
  const now = useNow(60_000);
  const { me } = useStudio();
  return (
    <table className="table">
      <thead>
        <tr>
          <th>{words.id}</th>
          <th>{words.name}</th>
          <th>{words.roles}</th>
          <th>{words.created}</th>
          <th aria-label={words.edit} />
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <tr key={user.userId}>
            <td className="cell-main">
              <span className="row-link">{user.userId}</span> {user.userId === me.user && <Badge>{words.you}</Badge>}{' '}
              {user.admin && <Badge kind="accent">{words.isAdmin}</Badge>}{' '}
              {user.disabled && <Badge kind="warning">{words.isDisabled}</Badge>}
            </td>
            <td>{user.name}</td>
            <td>
              <RoleList roles={user.roles} />
            </td>
            <td className="muted">{format.relative(Date.parse(user.createdAt), now)}</td>
            <td className="cell-number">
              <IconButton icon="edit" label={words.editTitle(user.userId)} onClick={() => onEdit(user)} />
              <IconButton
                icon="trash"
                label={words.removeTitle(user.userId)}
                disabled={user.userId === me.user}
                onClick={() => onRemove(user)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function UserDialog({ user, onClose }: { readonly user: User | undefined; onClose(): void }): ReactElement {
  const words = useText(usersText);
  const common = useText(settingsText);
  const [userId, setUserId] = useState(user?.userId ?? '');
  const [name, setName] = useState(user?.name ?? '');
  const [password, setPassword] = useState('');
  const [admin, setAdmin] = useState(user?.admin ?? false);
  const [disabled, setDisabled] = useState(user?.disabled ?? false);
  const [roles, setRoles] = useState<Roles>(user?.roles ?? {});
  const [problem, setProblem] = useState<'id' | 'password'>();
  const put = useChange('putUser', { refreshes: ['listUsers'], done: common.saved, onDone: onClose });
  const submit = (): void => {
    const needsPassword = user === undefined || password !== '';
    const found = userId === '' ? 'id' : needsPassword && password.length < 12 ? 'password' : undefined;
    setProblem(found);
    if (found !== undefined) return;
    const body = { roles, admin, disabled, ...(name !== '' && { name }), ...(password !== '' && { password }) };
    put.mutate({ params: { userId }, body });
  };
  return (
    <Dialog
      title={user === undefined ? words.create : words.editTitle(user.userId)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{common.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={put.isPending}>
            {common.save}
          </Button>
        </>
      }
    >
      {user === undefined && (
        <Field label={words.id} hint={words.idHint} problem={problem === 'id' ? common.missing : undefined}>
          {(ids) => <TextInput {...ids} value={userId} onChange={({ target }) => setUserId(target.value.trim())} />}
        </Field>
      )}
      <Field label={words.name}>
        {(ids) => <TextInput {...ids} value={name} onChange={({ target }) => setName(target.value)} />}
      </Field>
      <Field
        label={words.password}
        hint={user === undefined ? words.passwordHint : words.newPasswordHint}
        problem={problem === 'password' ? common.passwordShort : undefined}
      >
        {(ids) => (
          <TextInput
            {...ids}
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        )}
      </Field>
      <h3>{words.roles}</h3>
      <RoleFields roles={roles} onChange={setRoles} />
      <label className="check-row">
        <input type="checkbox" checked={admin} onChange={({ target }) => setAdmin(target.checked)} />
        {words.admin}
      </label>
      <label className="check-row">
        <input type="checkbox" checked={disabled} onChange={({ target }) => setDisabled(target.checked)} />
        {words.disabled}
      </label>
    </Dialog>
  );
}

function RemoveDialog({ user, onClose }: { readonly user: User; onClose(): void }): ReactElement {
  const words = useText(usersText);
  const common = useText(settingsText);
  const remove = useChange('deleteUser', { refreshes: ['listUsers'], done: common.removed, onDone: onClose });
  return (
    <ConfirmDialog
      title={words.removeTitle(user.userId)}
      confirm={common.remove}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { userId: user.userId } })}
      onClose={onClose}
    >
      <p>{words.removeWhat}</p>
    </ConfirmDialog>
  );
}
