/** Ceilings of projects from the configuration. */
import type { Ceiling } from '@nebula/core';
import type { Projects } from '@nebula/engine';
import { DEFAULT_PROJECT, type Records, type Store } from '@nebula/ports';
import type { NebulaConfig } from '@nebula/sdk';
import type { Ceilings } from '@nebula/server/projects';

/** On the machine of the user who wrote them, workflows get what they ask for; elsewhere an owner decides. */
function ceilingsOf({ projects = {}, capabilities, server }: NebulaConfig, preset?: string): Ceilings {
  const configured: Record<string, Ceiling> = {};
  for (const [name, { ceiling }] of Object.entries(projects)) if (ceiling !== undefined) configured[name] = ceiling;
  return {
    standard: (preset ?? server?.preset ?? 'desktop') === 'desktop' ? 'all' : {},
    configured,
    ...(capabilities && { ofDefault: capabilities }),
  };
}

/** Without records there is one project. */
export async function projectsIn(
  config: NebulaConfig,
  store: Store,
  records: Records | undefined,
  preset?: string,
): Promise<Projects> {
  const { ceilingIn, projectsOf } = await import('@nebula/server/projects');
  const ceilings = ceilingsOf(config, preset);
  if (records !== undefined) return projectsOf({ records, store }, ceilings);
  return {
    projectOf: async () => DEFAULT_PROJECT,
    ceilingOf: async (project) => ceilingIn(project, undefined, ceilings),
  };
}
