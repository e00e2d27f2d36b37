import { defineText } from '../../text/define-text.ts';

export const workflowsText = defineText({
  en: {
    title: 'Workflows',
    search: 'Search workflows',
    create: 'New workflow',
    emptyTitle: 'No workflows yet',
    empty: 'Draw one here, or put a YAML file into the folder workflows of your project.',
    noMatch: 'No workflow matches',
    inactive: 'Not active',
    version: (active: number, newest: number) =>
      active === newest ? `v${active}` : `v${active} active, v${newest} newest`,
    edit: (name: string) => `Edit ${name}`,
    start: (name: string) => `Start ${name}`,
    more: 'Load more',
  },
  de: {
    title: 'Workflows',
    search: 'Workflows suchen',
    create: 'Neuer Workflow',
    emptyTitle: 'Noch keine Workflows',
    empty: 'Zeichnen Sie hier einen, oder legen Sie eine YAML-Datei in den Ordner workflows Ihres Projekts.',
    noMatch: 'Kein Workflow passt',
    inactive: 'Nicht aktiv',
    version: (active, newest) => (active === newest ? `v${active}` : `v${active} aktiv, v${newest} neueste`),
    edit: (name) => `${name} bearbeiten`,
    start: (name) => `${name} starten`,
    more: 'Mehr laden',
  },
});
