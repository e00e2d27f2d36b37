/** Projects and the most that their runs may be granted. */
import type { AnswerOf, BodyOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useChange, useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Button, Field, IconButton, Select, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Listed } from '../../ui/listed.tsx';
import { readJson } from '../../ui/schema-form/fields.ts';
import { ceilingText } from './ceiling-text.ts';
import { projectsText } from './projects-text.ts';
import { settingsText } from './settings-text.ts';

type Project = AnswerOf<'listProjects'>['items'][number];
type CeilingKind = 'all' | 'some' | 'reset';

const CEILINGS: readonly CeilingKind[] = ['all', 'some', 'reset'];

export function Projects(): ReactElement {
  const words = useText(projectsText);
  const { me } = useStudio();
  const [edited, setEdited] = useState<Project | 'new'>();
  const [removed, setRemoved] = useState<Project>();
  const list = useList('listProjects', { query: { limit: 100 } });
  return (
    <>
      <div className="settings-bar">
        <p className="muted">{words.ceilingWhat}</p>
        {me.admin && (
          <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
            {words.create}
          </Button>
        )}
      </div>
      <Listed list={list} empty={null}>
        {(projects) => (
          <table className="table">
            <thead>
              <tr>
                <th>{words.name}</th>
                <th>{words.id}</th>
                <th>{words.ceiling}</th>
                <th>{words.created}</th>
                <th aria-label={words.editTitle('')} />
              </tr>
            </thead>
            <tbody>
              {projects.map((project) => (
                <ProjectRow
                  key={project.projectId}
                  project={project}
                  onEdit={() => setEdited(project)}
                  onRemove={() => setRemoved(project)}
                />
              ))}
            </tbody>
          </table>
        )}
      </Listed>
      {edited !== undefined && (
        <ProjectDialog project={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {removed !== undefined && <RemoveDialog project={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

function ProjectRow({
  project,
  onEdit,
  onRemove,
}: {
  readonly project: Project;
  onEdit(): void;
  onRemove(): void;
}): ReactElement {
  const words = useText(projectsText);
  const format = useFormat();
  const now = useNow(60_000);
  const { me } = useStudio();
  const { projectId, name, ceiling, createdAt } = project;
  const mayEdit = useMay('owner', projectId);
  const limits = ceilingText(ceiling);
  return (
    <tr>
      <td className="cell-main">
        <span className="row-link">{name}</span>
      </td>
      <td className="mono">{projectId}</td>
      <td className={limits === null ? 'muted' : 'mono'} title={limits ?? undefined}>
        {limits === null ? words.unlimited : limits === '' ? '–' : limits}
      </td>
      <td className="muted">{format.relative(Date.parse(createdAt), now)}</td>
      <td className="cell-number">
        {mayEdit && <IconButton icon="edit" label={words.editTitle(name)} onClick={onEdit} />}
        {me.admin && projectId !== 'default' && (
          <IconButton icon="trash" label={words.removeTitle(name)} onClick={onRemove} />
        )}
      </td>
    </tr>
  );
}

function ProjectDialog({ project, onClose }: { readonly project: Project | undefined; onClose(): void }): ReactElement {
  const words = useText(projectsText);
  const common = useText(settingsText);
  const [projectId, setProjectId] = useState(project?.projectId ?? '');
  const [name, setName] = useState(project?.name ?? '');
  const ceiling = project?.ceiling ?? 'all';
  const [kind, setKind] = useState<CeilingKind>(project === undefined ? 'reset' : ceiling === 'all' ? 'all' : 'some');
  const [capabilities, setCapabilities] = useState(() => JSON.stringify(ceiling === 'all' ? {} : ceiling, null, 2));
  const [problem, setProblem] = useState<'id' | 'capabilities'>();
  const put = useChange('putProject', { refreshes: ['listProjects'], done: common.saved, onDone: onClose });
  const submit = (): void => {
    const read = readJson(capabilities);
    const found = projectId === '' ? 'id' : kind === 'some' && 'problem' in read ? 'capabilities' : undefined;
    setProblem(found);
    if (found !== undefined) return;
    const given = 'value' in read ? read.value : null;
    const wanted = (kind === 'all' ? 'all' : kind === 'reset' ? null : given) as BodyOf<'putProject'>['ceiling'];
    put.mutate({
      params: { projectId },
      body: { ...(name !== '' && { name }), ...(wanted !== undefined && { ceiling: wanted }) },
    });
  };
  return (
    <Dialog
      title={project === undefined ? words.create : words.editTitle(project.name)}
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
      {project === undefined && (
        <Field label={words.id} hint={words.idHint} problem={problem === 'id' ? common.missing : undefined}>
          {(ids) => (
            <TextInput
              {...ids}
              className="mono"
              value={projectId}
              onChange={({ target }) => setProjectId(target.value.trim())}
            />
          )}
        </Field>
      )}
      <Field label={words.name}>
        {(ids) => <TextInput {...ids} value={name} onChange={({ target }) => setName(target.value)} />}
      </Field>
      <Field label={words.ceiling} hint={words.ceilingWhat}>
        {(ids) => (
          <Select
            {...ids}
            value={kind}
            onChange={({ target }) => setKind(CEILINGS.find((one) => one === target.value) ?? 'all')}
          >
            {CEILINGS.map((value) => (
              <option key={value} value={value}>
                {words.ceilings[value]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {kind === 'some' && (
        <Field
          label={words.capabilities}
          hint={words.capabilitiesHint}
          problem={problem === 'capabilities' ? common.notJson : undefined}
        >
          {(ids) => (
            <textarea
              {...ids}
              className="textarea"
              rows={8}
              spellCheck={false}
              value={capabilities}
              onChange={({ target }) => setCapabilities(target.value)}
            />
          )}
        </Field>
      )}
    </Dialog>
  );
}

function RemoveDialog({ project, onClose }: { readonly project: Project; onClose(): void }): ReactElement {
  const words = useText(projectsText);
  const common = useText(settingsText);
  const remove = useChange('deleteProject', { refreshes: ['listProjects'], done: common.removed, onDone: onClose });
  return (
    <ConfirmDialog
      title={words.removeTitle(project.name)}
      confirm={common.remove}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { projectId: project.projectId } })}
      onClose={onClose}
    >
      <p>{words.removeWhat}</p>
    </ConfirmDialog>
  );
}
