/** Who is told about failures and tasks. */
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
import { notify } from '../../ui/notices.ts';
import { Empty } from '../../ui/page.tsx';
import { notificationsText } from './notifications-text.ts';
import { settingsText } from './settings-text.ts';

type Notification = AnswerOf<'listNotifications'>['items'][number];
type Kind = Notification['on'][number];

const KINDS: readonly Kind[] = ['failed', 'unknown', 'approval'];

export function Notifications(): ReactElement {
  const words = useText(notificationsText);
  const { project } = useStudio();
  const [edited, setEdited] = useState<Notification | 'new'>();
  const [removed, setRemoved] = useState<Notification>();
  const list = useList('listNotifications', { query: { project, limit: 100 } });
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
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
        {(notifications) => (
          <>
            <div className="settings-bar">
              <p className="muted">{words.what}</p>
              {create}
            </div>
            <ul className="notification-list">
              {notifications.map((one) => (
                <NotificationRow
                  key={one.notificationId}
                  notification={one}
                  onEdit={() => setEdited(one)}
                  onRemove={() => setRemoved(one)}
                />
              ))}
            </ul>
          </>
        )}
      </Listed>
      {edited !== undefined && (
        <NotificationDialog notification={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {removed !== undefined && <RemoveDialog id={removed.notificationId} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

interface NotificationRowProps {
  readonly notification: Notification;
  onEdit(): void;
  onRemove(): void;
}

function NotificationRow({ notification, onEdit, onRemove }: NotificationRowProps): ReactElement {
  const words = useText(notificationsText);
  const format = useFormat();
  const now = useNow(60_000);
  const { notificationId, url, on, active, lastSentAt, lastError } = notification;
  const test = useChange('testNotification', {
    refreshes: ['listNotifications'],
    onDone: ({ delivered, error }) =>
      notify(
        delivered
          ? { kind: 'done', message: words.delivered }
          : { kind: 'failure', code: 'NOT_DELIVERED', message: words.notDelivered(error ?? ''), hint: undefined },
      ),
  });
  return (
    <li>
      <div className="notification-what">
        <strong>{notificationId}</strong> {!active && <Badge kind="warning">{words.paused}</Badge>}
        {on.map((kind) => (
          <Badge key={kind}>{words.short[kind]}</Badge>
        ))}
        <p className="mono muted truncate">{url}</p>
        {lastError !== null && <p className="field-problem">{words.failing(lastError)}</p>}
      </div>
      <span className="muted">{lastSentAt === null ? words.never : format.relative(Date.parse(lastSentAt), now)}</span>
      <Button isBusy={test.isPending} onClick={() => test.mutate({ params: { notificationId } })}>
        {words.test}
      </Button>
      <IconButton icon="edit" label={words.editTitle(notificationId)} onClick={onEdit} />
      <IconButton icon="trash" label={words.removeTitle(notificationId)} onClick={onRemove} />
    </li>
  );
}

function NotificationDialog({
  notification,
  onClose,
}: {
  readonly notification: Notification | undefined;
  onClose(): void;
}): ReactElement {
  const words = useText(notificationsText);
  const common = useText(settingsText);
  const { project } = useStudio();
  const [id, setId] = useState(notification?.notificationId ?? '');
  const [url, setUrl] = useState(notification?.url ?? '');
  const [on, setOn] = useState<readonly Kind[]>(notification?.on ?? KINDS);
  const [gather, setGather] = useState(notification?.gather ?? '30s');
  const [secret, setSecret] = useState(notification?.secret ?? '');
  const [active, setActive] = useState(notification?.active ?? true);
  const [problem, setProblem] = useState<'id' | 'url' | 'on'>();
  const put = useChange('putNotification', { refreshes: ['listNotifications'], done: common.saved, onDone: onClose });
  const submit = (): void => {
    const found = id === '' ? 'id' : url === '' ? 'url' : on.length === 0 ? 'on' : undefined;
    setProblem(found);
    if (found !== undefined) return;
    const { network = [], workflows = null, tag = null } = notification ?? {};
    const kept = {
      ...(network.length > 0 && { network: [...network] }),
      ...(workflows !== null && { workflows: [...workflows] }),
      ...(tag !== null && { tag }),
    };
    const body = {
      project,
      url,
      on: [...on],
      active,
      ...(gather !== '' && { gather }),
      ...(secret !== '' && { secret }),
      ...kept,
    };
    put.mutate({ params: { notificationId: id }, body });
  };
  return (
    <Dialog
      title={notification === undefined ? words.create : words.editTitle(notification.notificationId)}
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
      {notification === undefined && (
        <Field label={words.id} problem={problem === 'id' ? common.missing : undefined}>
          {(ids) => <TextInput {...ids} value={id} onChange={({ target }) => setId(target.value.trim())} />}
        </Field>
      )}
      <Field label={words.url} hint={words.urlHint} problem={problem === 'url' ? common.missing : undefined}>
        {(ids) => (
          <TextInput {...ids} className="mono" value={url} onChange={({ target }) => setUrl(target.value.trim())} />
        )}
      </Field>
      <KindFields on={on} hasProblem={problem === 'on'} onChange={setOn} />
      <Field label={words.gather} hint={words.gatherHint}>
        {(ids) => <TextInput {...ids} value={gather} onChange={({ target }) => setGather(target.value.trim())} />}
      </Field>
      <Field label={words.secret} hint={words.secretHint}>
        {(ids) => (
          <TextInput
            {...ids}
            className="mono"
            value={secret}
            onChange={({ target }) => setSecret(target.value.trim())}
          />
        )}
      </Field>
      <label className="check-row">
        <input type="checkbox" checked={active} onChange={({ target }) => setActive(target.checked)} />
        {words.active}
      </label>
    </Dialog>
  );
}

interface KindFieldsProps {
  readonly on: readonly Kind[];
  readonly hasProblem: boolean;
  onChange(on: readonly Kind[]): void;
}

function KindFields({ on, hasProblem, onChange }: KindFieldsProps): ReactElement {
  const words = useText(notificationsText);
  return (
    <fieldset className="choices">
      <legend>{words.on}</legend>
      {KINDS.map((kind) => (
        <label key={kind} className="check-row">
          <input
            type="checkbox"
            checked={on.includes(kind)}
            onChange={({ target }) =>
              onChange(KINDS.filter((one) => (one === kind ? target.checked : on.includes(one))))
            }
          />
          {words.kinds[kind]}
        </label>
      ))}
      {hasProblem && (
        <p className="field-problem" role="alert">
          {words.needsKind}
        </p>
      )}
    </fieldset>
  );
}

function RemoveDialog({ id, onClose }: { readonly id: string; onClose(): void }): ReactElement {
  const words = useText(notificationsText);
  const common = useText(settingsText);
  const remove = useChange('deleteNotification', {
    refreshes: ['listNotifications'],
    done: common.removed,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(id)}
      confirm={common.remove}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { notificationId: id } })}
      onClose={onClose}
    >
      <p>{words.removeWhat}</p>
    </ConfirmDialog>
  );
}
