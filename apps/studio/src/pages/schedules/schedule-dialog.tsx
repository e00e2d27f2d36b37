/** Makes or changes a schedule. The next times are shown while the times are typed. */
import { type ReactElement, useState } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useLanguage, useText } from '../../text/use-text.ts';
import { Button, Field, Select, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { readJson } from '../../ui/schema-form/fields.ts';
import { SegmentedFilter } from '../../ui/segmented-filter.tsx';
import { cronInWords } from './cron-words.ts';
import { type NextFires, nextFires, type ScheduleTimes } from './next-fires.ts';
import type { Schedule } from './schedule.ts';
import { schedulesText } from './schedules-text.ts';

const PRESETS = {
  hourly: '0 * * * *',
  daily: '0 9 * * *',
  weekdays: '0 9 * * 1-5',
  weekly: '0 9 * * 1',
  monthly: '0 9 1 * *',
} as const;

const CATCH_UPS = ['none', 'last', 'all'] as const;
const SHOWN_FIRES = 5;

interface ScheduleDialogProps {
  /** Undefined: a new one. */
  readonly schedule: Schedule | undefined;
  readonly workflowId: string | undefined;
  onClose(): void;
}

/** What is typed. */
interface Draft {
  readonly id: string;
  readonly workflowId: string;
  readonly plan: string | null;
  readonly by: 'cron' | 'every';
  readonly cron: string;
  readonly every: string;
  readonly timezone: string;
  readonly catchUp: Schedule['catchUp'];
  readonly input: string;
}

function draftOf(schedule: Schedule | undefined, workflowId: string | undefined): Draft {
  return {
    id: schedule?.scheduleId ?? '',
    workflowId: schedule?.workflowId ?? workflowId ?? '',
    plan: schedule?.plan ?? null,
    by: schedule?.every == null ? 'cron' : 'every',
    cron: schedule?.cron ?? PRESETS.daily,
    every: schedule?.every ?? '1h',
    timezone: schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    catchUp: schedule?.catchUp ?? 'last',
    input: schedule?.input == null ? '' : JSON.stringify(schedule.input, null, 2),
  };
}

export function ScheduleDialog({ schedule, workflowId, onClose }: ScheduleDialogProps): ReactElement {
  const words = useText(schedulesText);
  const [draft, setDraft] = useState(() => draftOf(schedule, workflowId));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const now = useNow(null);
  const edit = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  const put = useChange('putSchedule', { refreshes: ['listSchedules'], done: words.saved, onDone: onClose });
  const times: ScheduleTimes = {
    ...(draft.by === 'cron' ? { cron: draft.cron } : { every: draft.every }),
    timezone: draft.timezone,
  };
  const next = nextFires(times, now, SHOWN_FIRES);
  const submit = (): void => {
    const input = draft.input.trim() === '' ? undefined : readJson(draft.input);
    const found = {
      ...(draft.id === '' && { id: words.missing }),
      ...(draft.workflowId === '' && draft.plan === null && { workflowId: words.missing }),
      ...(input !== undefined && 'problem' in input && { input: words.notJson }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0 || !next.ok) return;
    const target = draft.plan === null ? { workflowId: draft.workflowId } : { plan: draft.plan };
    const given = input !== undefined && 'value' in input ? { input: input.value } : {};
    const body = { ...target, ...times, catchUp: draft.catchUp, active: schedule?.active ?? true, ...given };
    put.mutate({ params: { scheduleId: draft.id }, body });
  };
  return (
    <Dialog
      title={schedule === undefined ? words.create : words.editTitle(schedule.scheduleId)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={put.isPending}>
            {words.save}
          </Button>
        </>
      }
    >
      <TargetFields draft={draft} problems={problems} isNew={schedule === undefined} onEdit={edit} />
      <TimeFields draft={draft} next={next} onEdit={edit} />
      <Field label={words.input} hint={words.inputHint} problem={problems['input']}>
        {(ids) => (
          <textarea
            {...ids}
            className="textarea"
            rows={3}
            spellCheck={false}
            value={draft.input}
            onChange={({ target }) => edit({ input: target.value })}
          />
        )}
      </Field>
      <Field label={words.catchUp}>
        {(ids) => (
          <Select
            {...ids}
            value={draft.catchUp}
            onChange={({ target }) => edit({ catchUp: CATCH_UPS.find((one) => one === target.value) ?? 'last' })}
          >
            {CATCH_UPS.map((value) => (
              <option key={value} value={value}>
                {words.catchUps[value]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  onEdit(change: Partial<Draft>): void;
}

function TargetFields({
  draft,
  problems,
  isNew,
  onEdit,
}: FieldsProps & { readonly problems: Readonly<Record<string, string>>; readonly isNew: boolean }): ReactElement {
  const words = useText(schedulesText);
  const { project } = useStudio();
  const workflows = useRead('listWorkflows', { query: { project, limit: 200 } });
  return (
    <>
      {isNew && (
        <Field label={words.id} hint={words.idHint} problem={problems['id']}>
          {(ids) => (
            <TextInput
              {...ids}
              pattern="[A-Za-z0-9_.\-]+"
              value={draft.id}
              onChange={({ target }) => onEdit({ id: target.value.trim() })}
            />
          )}
        </Field>
      )}
      {draft.plan === null ? (
        <Field label={words.workflow} problem={problems['workflowId']}>
          {(ids) => (
            <Select {...ids} value={draft.workflowId} onChange={({ target }) => onEdit({ workflowId: target.value })}>
              <option value="" />
              {(workflows.data?.items ?? []).map(({ workflowId, name }) => (
                <option key={workflowId} value={workflowId}>
                  {name ?? workflowId}
                </option>
              ))}
            </Select>
          )}
        </Field>
      ) : (
        <p>{words.plan(draft.plan)}</p>
      )}
    </>
  );
}

function TimeFields({ draft, next, onEdit }: FieldsProps & { readonly next: NextFires }): ReactElement {
  const words = useText(schedulesText);
  const language = useLanguage();
  const problem = (field: string): string | undefined =>
    next.ok || next.field !== field ? undefined : field === 'timezone' ? words.noTimezone(next.message) : next.message;
  return (
    <>
      <SegmentedFilter
        label={words.times}
        value={draft.by}
        onChoose={(by) => onEdit({ by })}
        choices={[
          { value: 'cron', label: words.byCron },
          { value: 'every', label: words.byInterval },
        ]}
      />
      {draft.by === 'cron' ? (
        <>
          <div className="presets">
            {Object.entries(PRESETS).map(([name, cron]) => (
              <Button key={name} kind="quiet" aria-pressed={draft.cron === cron} onClick={() => onEdit({ cron })}>
                {words.presets[name as keyof typeof PRESETS]}
              </Button>
            ))}
          </div>
          <Field
            label={words.cron}
            hint={(next.ok ? cronInWords(draft.cron, language) : undefined) ?? words.cronHint}
            problem={problem('cron')}
          >
            {(ids) => (
              <TextInput
                {...ids}
                className="mono"
                value={draft.cron}
                onChange={({ target }) => onEdit({ cron: target.value })}
              />
            )}
          </Field>
          <Field label={words.timezone} problem={problem('timezone')}>
            {(ids) => (
              <TextInput
                {...ids}
                list="timezones"
                value={draft.timezone}
                onChange={({ target }) => onEdit({ timezone: target.value })}
              />
            )}
          </Field>
          <datalist id="timezones">
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      ) : (
        <Field label={words.interval} hint={words.intervalHint} problem={problem('every')}>
          {(ids) => (
            <TextInput {...ids} value={draft.every} onChange={({ target }) => onEdit({ every: target.value })} />
          )}
        </Field>
      )}
      {next.ok && <FirePreview fires={next.fires} />}
    </>
  );
}

function FirePreview({ fires }: { readonly fires: readonly number[] }): ReactElement {
  const words = useText(schedulesText);
  const format = useFormat();
  const now = useNow(10_000);
  return (
    <section className="fire-preview" aria-label={words.nextFires}>
      <h3>{words.nextFires}</h3>
      <ol>
        {fires.map((fire) => (
          <li key={fire}>
            <span>{format.full(fire)}</span>
            <span className="muted">{format.relative(fire, now)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
