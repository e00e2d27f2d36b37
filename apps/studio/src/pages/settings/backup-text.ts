import { defineText } from '../../text/define-text.ts';

export const backupText = defineText({
  en: {
    title: 'Backup',
    what: 'A copy of all data of this server as a tar archive, taken while it runs: workflows, runs, values, users and schedules.',
    key: 'Credentials stay encrypted in it. Keep the key of the server in another place: without it they cannot be read.',
    restore: 'To restore it, stop the server and run:',
    download: 'Download a backup',
    received: (size: string) => `${size} received`,
    done: (size: string) => `The backup is complete: ${size}`,
  },
  de: {
    title: 'Sicherung',
    what: 'Eine Kopie aller Daten dieses Servers als tar-Archiv, im laufenden Betrieb: Workflows, Läufe, Werte, Benutzer und Zeitpläne.',
    key: 'Zugangsdaten bleiben darin verschlüsselt. Bewahren Sie den Schlüssel des Servers anderswo auf: ohne ihn sind sie unlesbar.',
    restore: 'Zum Wiederherstellen den Server anhalten und ausführen:',
    download: 'Sicherung herunterladen',
    received: (size) => `${size} empfangen`,
    done: (size) => `Die Sicherung ist vollständig: ${size}`,
  },
});
