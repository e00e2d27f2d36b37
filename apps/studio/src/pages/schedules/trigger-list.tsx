/** Webhooks, events and files that start active workflows. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { workflowPath } from '../../app/routes.ts';
import { useStudio } from '../../app/studio-context.ts';
import { useList } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Badge, Button, IconButton } from '../../ui/controls.tsx';
import { notify } from '../../ui/notices.ts';
import { schedulesText } from './schedules-text.ts';

type Trigger = AnswerOf<'listTriggers'>['items'][number];

export function TriggerList(): ReactElement {
  const words = useText(schedulesText);
  const { project } = useStudio();
  const list = useList('listTriggers', { query: { project, fires: 0, limit: 200 } });
  const triggers = list.items.filter(({ kind }) => kind !== 'schedule');
  return (
    <section className="triggers">
      <header className="section-header">
        <h2>{words.triggers}</h2>
      </header>
      {!list.isPending && triggers.length === 0 && <p className="muted">{words.noTriggers}</p>}
      <ul className="trigger-list">
        {triggers.map((trigger) => (
          <TriggerRow key={`${trigger.kind} ${trigger.id}`} trigger={trigger} />
        ))}
      </ul>
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>{words.more}</Button>}
    </section>
  );
}

function TriggerRow({ trigger }: { readonly trigger: Trigger }): ReactElement {
  const words = useText(schedulesText);
  const { kind, workflowId, path = '', method = '', event = '', signed, respond } = trigger;
  const address =
    kind === 'webhook' ? new URL(path.startsWith('/') ? path : `/${path}`, location.origin).href : undefined;
  return (
    <li>
      <Badge>{words.kinds[kind]}</Badge>
      <code className="truncate">{kind === 'webhook' ? `${method} ${path}` : kind === 'event' ? event : path}</code>
      {address !== undefined && (
        <IconButton
          icon="copy"
          label={words.copy}
          onClick={() =>
            void navigator.clipboard.writeText(address).then(() => notify({ kind: 'done', message: words.copied }))
          }
        />
      )}
      {signed !== undefined && (
        <span className={signed ? 'muted' : 'trigger-unsigned'}>{signed ? words.signed : words.unsigned}</span>
      )}
      {(respond === 'immediate' || respond === 'result') && <span className="muted">{words.respond[respond]}</span>}
      <span className="spring" />
      {workflowId !== null && <Link href={workflowPath(workflowId)}>{workflowId}</Link>}
    </li>
  );
}
