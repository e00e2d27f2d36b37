import { defineText } from '../../text/define-text.ts';

export const workflowText = defineText({
  en: {
    edit: 'Edit',
    schedule: 'Schedule',
    start: 'Start',
    lastRuns: 'Last runs',
    allRuns: 'All runs',
    noRuns: 'It has not run yet.',
    versions: 'Versions',
    active: 'Active',
    activate: 'Activate',
    deactivate: 'Deactivate',
    more: 'Load more',
  },
  de: {
    edit: 'Bearbeiten',
    schedule: 'Zeitplan',
    start: 'Starten',
    lastRuns: 'Letzte Läufe',
    allRuns: 'Alle Läufe',
    noRuns: 'Er ist noch nicht gelaufen.',
    versions: 'Versionen',
    active: 'Aktiv',
    activate: 'Aktivieren',
    deactivate: 'Deaktivieren',
    more: 'Mehr laden',
  },
});
