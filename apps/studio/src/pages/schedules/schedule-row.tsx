import { type ReactElement, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { runPath, workflowPath } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import { useChange } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useLanguage, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Badge, IconButton } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { cronInWords } from './cron-words.ts';
import { type Schedule, scheduleBody } from './schedule.ts';
import { schedulesText } from './schedules-text.ts';

interface ScheduleRowProps {
  readonly schedule: Schedule;
  onEdit(): void;
}

export function ScheduleRow({ schedule, onEdit }: ScheduleRowProps): ReactElement {
  const words = useText(schedulesText);
  const format = useFormat();
  const now = useNow(10_000);
  const { scheduleId, workflowId, plan, source, active, lastFiredAt } = schedule;
  return (
    <tr className={active ? undefined : 'schedule-paused'}>
      <td className="cell-main">
        <span className="row-link truncate" title={scheduleId}>
          {scheduleId}
        </span>{' '}
        {source === 'workflow' && (
          <span title={words.ofWorkflowHint}>
            <Badge>{words.ofWorkflow}</Badge>
          </span>
        )}
        {!active && <Badge kind="warning">{words.paused}</Badge>}
      </td>
      <td data-label={words.starts}>
        {workflowId === null ? words.plan(plan ?? '') : <Link href={workflowPath(workflowId)}>{workflowId}</Link>}
      </td>
      <td>
        <Times schedule={schedule} />
      </td>
      <td data-label={words.next}>
        <NextFires schedule={schedule} now={now} />
      </td>
      <td className="muted" data-label={words.last}>
        {lastFiredAt === null ? words.never : format.relative(Date.parse(lastFiredAt), now)}
      </td>
      <td className="schedule-actions">
        <ScheduleActions schedule={schedule} onEdit={onEdit} />
      </td>
    </tr>
  );
}

/** The times in words; the expression itself is beside them. */
function Times({ schedule }: { readonly schedule: Schedule }): ReactElement {
  const words = useText(schedulesText);
  const language = useLanguage();
  const { cron, every, timezone } = schedule;
  const sentence = cron === null ? words.every(every ?? '') : cronInWords(cron, language);
  return (
    <span className="schedule-times">
      {sentence !== undefined && <span>{sentence}</span>}
      {cron !== null && <code className="muted">{cron}</code>}
      {cron !== null && <span className="muted">{timezone}</span>}
    </span>
  );
}

function NextFires({ schedule, now }: { readonly schedule: Schedule; readonly now: number }): ReactElement {
  const words = useText(schedulesText);
  const format = useFormat();
  const fires = (schedule.nextFires ?? []).map((fire) => Date.parse(fire));
  const [first] = fires;
  if (!schedule.active) return <span className="muted">{words.paused}</span>;
  if (first === undefined) return <span className="muted">{words.noneLeft}</span>;
  return (
    <details className="fires">
      <summary>
        <span title={format.full(first)}>{format.relative(first, now)}</span>
        <span className="visually-hidden">{words.showFires(schedule.scheduleId)}</span>
        <Icon name="down" size={12} />
      </summary>
      <ol>
        {fires.map((fire) => (
          <li key={fire}>
            <span>{format.full(fire)}</span>
            <span className="muted">{format.relative(fire, now)}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function ScheduleActions({ schedule, onEdit }: ScheduleRowProps): ReactElement {
  const words = useText(schedulesText);
  const [, navigate] = useLocation();
  const [isRemoving, setRemoving] = useState(false);
  const mayOperate = useMay('operator', schedule.project);
  const mayEdit = useMay('editor', schedule.project) && schedule.source === 'api';
  const { scheduleId, active } = schedule;
  const params = { scheduleId };
  const fire = useChange('fireSchedule', {
    refreshes: ['listSchedules', 'listExecutions'],
    done: words.fired,
    onDone: ({ executionId }) => navigate(runPath(executionId)),
  });
  const put = useChange('putSchedule', { refreshes: ['listSchedules'] });
  const remove = useChange('deleteSchedule', { refreshes: ['listSchedules'], onDone: () => setRemoving(false) });
  return (
    <>
      {mayOperate && (
        <IconButton icon="bolt" label={words.fireNow} isBusy={fire.isPending} onClick={() => fire.mutate({ params })} />
      )}
      {mayEdit && (
        <IconButton
          icon={active ? 'pause' : 'play'}
          label={active ? words.pause : words.resume}
          isBusy={put.isPending}
          onClick={() => put.mutate({ params, body: { ...scheduleBody(schedule), active: !active } })}
        />
      )}
      {mayEdit && (
        <Menu
          label={words.more}
          className="button-quiet icon-button"
          items={[
            { label: words.edit, icon: 'edit', onChoose: onEdit },
            { label: words.remove, icon: 'trash', isDangerous: true, onChoose: () => setRemoving(true) },
          ]}
        >
          <Icon name="more" />
        </Menu>
      )}
      {isRemoving && (
        <ConfirmDialog
          title={words.removeTitle(scheduleId)}
          confirm={words.remove}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ params })}
          onClose={() => setRemoving(false)}
        >
          <p>{words.removeWhat}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
