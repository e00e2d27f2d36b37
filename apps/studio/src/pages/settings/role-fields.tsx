/** Roles by project, as selects. */
import type { Role } from '@nebula/client';
import type { ReactElement } from 'react';
import { useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Field, Select } from '../../ui/controls.tsx';
import { settingsText } from './settings-text.ts';

const ROLES: readonly Role[] = ['viewer', 'operator', 'editor', 'owner'];

export type Roles = Readonly<Record<string, Role>>;

interface RoleFieldsProps {
  readonly roles: Roles;
  onChange(roles: Roles): void;
}

export function RoleFields({ roles, onChange }: RoleFieldsProps): ReactElement {
  const words = useText(settingsText);
  const projects = useRead('listProjects', { query: { limit: 200 } });
  return (
    <div className="role-fields">
      {(projects.data?.items ?? []).map(({ projectId, name }) => (
        <Field key={projectId} label={name}>
          {(ids) => (
            <Select
              {...ids}
              value={roles[projectId] ?? ''}
              onChange={({ target }) => {
                const { [projectId]: _, ...others } = roles;
                const role = ROLES.find((known) => known === target.value);
                onChange(role === undefined ? others : { ...others, [projectId]: role });
              }}
            >
              <option value="">{words.noRole}</option>
              {ROLES.map((role) => (
                <option key={role} value={role}>
                  {words.roles[role]}
                </option>
              ))}
            </Select>
          )}
        </Field>
      ))}
    </div>
  );
}

/** `default: Editor, billing: Viewer` */
export function RoleList({ roles }: { readonly roles: Roles }): ReactElement {
  const words = useText(settingsText);
  return (
    <>
      {Object.entries(roles)
        .map(([project, role]) => `${project}: ${words.roles[role]}`)
        .join(', ')}
    </>
  );
}
