/** The words for the status of runs and nodes. */
import { defineText } from './define-text.ts';

export const statusText = defineText({
  en: {
    pending: 'Pending',
    queued: 'Queued',
    running: 'Running',
    waiting: 'Waiting',
    paused: 'Paused',
    compensating: 'Undoing',
    completed: 'Completed',
    failed: 'Failed',
    skipped: 'Skipped',
    cancelled: 'Cancelled',
    'timed-out': 'Timed out',
    unknown: 'Unknown outcome',
    open: 'Open',
  },
  de: {
    pending: 'Ausstehend',
    queued: 'Eingereiht',
    running: 'Läuft',
    waiting: 'Wartet',
    paused: 'Pausiert',
    compensating: 'Wird zurückgenommen',
    completed: 'Abgeschlossen',
    failed: 'Fehlgeschlagen',
    skipped: 'Übersprungen',
    cancelled: 'Abgebrochen',
    'timed-out': 'Zeit überschritten',
    unknown: 'Ausgang unbekannt',
    open: 'Offen',
  },
});

export type ShownStatus = keyof (typeof statusText)['en'];

export function isShownStatus(status: string): status is ShownStatus {
  return Object.hasOwn(statusText.en, status);
}
