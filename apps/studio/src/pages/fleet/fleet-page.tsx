/** Where actions run: this server, its queue, and remote workers. */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useChange, useList, useRead } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Badge, IconButton } from '../../ui/controls.tsx';
import { Figure, Figures } from '../../ui/figures.tsx';
import { Listed } from '../../ui/listed.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Empty, Failed, Page } from '../../ui/page.tsx';
import { fleetText } from './fleet-text.ts';
import '../../ui/table.css';
import './fleet.css';

type Fleet = AnswerOf<'getFleet'>;
type Worker = AnswerOf<'listWorkers'>['items'][number];

const REFRESH_MS = 2_000;

export default function FleetPage(): ReactElement {
  const words = useText(fleetText);
  const { me } = useStudio();
  const workers = useList('listWorkers', { query: { limit: 100 } }, { refetchMs: REFRESH_MS });
  return (
    <Page title={words.title}>
      {me.admin ? <OwnEngine /> : <p className="muted">{words.adminOnly}</p>}
      <section className="fleet-section">
        <header className="section-header">
          <h2>{words.workers}</h2>
        </header>
        <Listed list={workers} empty={<NoWorkers />}>
          {(items) => <WorkerTable workers={items} />}
        </Listed>
      </section>
    </Page>
  );
}

function OwnEngine(): ReactElement {
  const fleet = useRead('getFleet', {}, { refetchMs: REFRESH_MS });
  if (fleet.isError) return <Failed error={fleet.error} onRetry={() => void fleet.refetch()} />;
  return fleet.data === undefined ? <div className="fleet-own" /> : <Engine fleet={fleet.data} />;
}

function Engine({ fleet: { engine, queue } }: { readonly fleet: Fleet }): ReactElement {
  const words = useText(fleetText);
  const format = useFormat();
  const { slots, running, readyNodes, oldestReadyMs, runs, leases, engineId } = engine;
  const waiting = queue.routes.toSorted((one, other) => other.waiting - one.waiting);
  const most = waiting[0]?.waiting ?? 0;
  return (
    <div className="fleet-own">
      <section>
        <header className="section-header">
          <h2>{words.engine}</h2>
          <span className="mono muted truncate">{engineId}</span>
        </header>
        <Meter
          label={words.slots}
          value={running}
          max={slots}
          text={words.slotsOf(format.number(running), format.number(slots))}
        />
        <Figures>
          <Figure label={words.ready} value={format.number(readyNodes)} />
          <Figure label={words.oldest} value={readyNodes === 0 ? '–' : format.duration(oldestReadyMs)} />
          <Figure label={words.runs} value={format.number(runs)} />
          <Figure label={words.leases} value={format.number(leases)} />
        </Figures>
      </section>
      <section>
        <header className="section-header">
          <h2>{words.queue}</h2>
        </header>
        <Figures>
          <Figure label={words.depth} value={format.number(queue.depth)} />
        </Figures>
        <h3>{words.routes}</h3>
        {waiting.length === 0 && <p className="muted">{words.noWaiting}</p>}
        {waiting.map(({ route, waiting: count }) => (
          <Meter
            key={route}
            label={route === '' ? words.ownRoute : route}
            value={count}
            max={most}
            text={format.number(count)}
          />
        ))}
      </section>
    </div>
  );
}

function NoWorkers(): ReactElement {
  const words = useText(fleetText);
  return (
    <Empty title={words.emptyTitle}>
      <p>{words.empty}</p>
      <pre className="command">npx nebula worker --server {location.origin}</pre>
    </Empty>
  );
}

function WorkerTable({ workers }: { readonly workers: readonly Worker[] }): ReactElement {
  const words = useText(fleetText);
  return (
    <table className="table">
      <thead>
        <tr>
          <th>{words.worker}</th>
          <th>{words.project}</th>
          <th>{words.labels}</th>
          <th>{words.actions}</th>
          <th className="cell-number">{words.running}</th>
          <th className="cell-number">{words.lastSeen}</th>
          <th aria-label={words.forget} />
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <WorkerRow key={`${worker.project} ${worker.workerId}`} worker={worker} />
        ))}
      </tbody>
    </table>
  );
}

const SHOWN_ACTIONS = 3;

function WorkerRow({ worker }: { readonly worker: Worker }): ReactElement {
  const words = useText(fleetText);
  const format = useFormat();
  const mayForget = useMay('operator', worker.project);
  const now = useNow(5_000);
  const [isForgetting, setForgetting] = useState(false);
  const { workerId, project, labels, actions, status, running, lastSeenAt } = worker;
  const forget = useChange('deleteWorker', { refreshes: ['listWorkers'], onDone: () => setForgetting(false) });
  return (
    <tr>
      <td className="cell-main">
        <span className={`worker-dot worker-${status}`} aria-hidden="true" />
        <span className="row-link">{workerId}</span> <span className="muted">{words[status]}</span>
      </td>
      <td>{project}</td>
      <td>
        {labels.map((label) => (
          <Badge key={label}>{label}</Badge>
        ))}
      </td>
      <td className="mono" title={actions.join('\n')}>
        {actions.slice(0, SHOWN_ACTIONS).join(', ')}
        {actions.length > SHOWN_ACTIONS && <span className="muted"> {words.more(actions.length - SHOWN_ACTIONS)}</span>}
      </td>
      <td className="cell-number" data-label={words.running}>
        {format.number(running)}
      </td>
      <td className="cell-number" data-label={words.lastSeen} title={format.full(Date.parse(lastSeenAt))}>
        {format.relative(Date.parse(lastSeenAt), now)}
      </td>
      <td className="cell-number">
        {mayForget && (
          <IconButton icon="trash" label={words.forgetTitle(workerId)} onClick={() => setForgetting(true)} />
        )}
        {isForgetting && (
          <ConfirmDialog
            title={words.forgetTitle(workerId)}
            confirm={words.forget}
            isBusy={forget.isPending}
            onConfirm={() => forget.mutate({ params: { workerId } })}
            onClose={() => setForgetting(false)}
          >
            <p>{words.forgetWhat}</p>
          </ConfirmDialog>
        )}
      </td>
    </tr>
  );
}
