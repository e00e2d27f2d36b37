import { defineText } from '../../text/define-text.ts';

export const tourText = defineText({
  en: {
    title: 'See it break, find out why, mend it',
    close: 'Close the tour',
    step: (step: number, count: number) => `${step} of ${count}`,
    working: 'It is running…',
    steps: {
      break: {
        title: 'Break an order',
        text: 'Nebula records everything that a run does. Start the example order with a card that will be declined, and watch it.',
        action: 'Start the order',
      },
      find: {
        title: 'Find the failed node',
        text: 'The graph shows the whole plan, and what became of it. One node has a cross: the charge.',
        action: 'Show me',
      },
      why: {
        title: 'Read why',
        text: 'The first line beside the graph always says why. The card was declined, so the error edge led to an apology instead of the warehouses.',
        action: 'And now?',
      },
      mend: {
        title: 'Mend it',
        text: 'Replay from the charge with another card. Only the charge and what follows run again; the rest keeps its results.',
        action: 'Replay with a good card',
      },
      done: {
        title: 'Mended',
        text: 'Same run, no lost work. Drag the time line below the graph to see the moment before it failed.',
        action: 'Make a workflow of your own',
      },
    },
  },
  de: {
    title: 'Scheitern sehen, Grund finden, beheben',
    close: 'Rundgang schließen',
    step: (step, count) => `${step} von ${count}`,
    working: 'Läuft…',
    steps: {
      break: {
        title: 'Eine Bestellung scheitern lassen',
        text: 'Nebula zeichnet alles auf, was ein Lauf tut. Starten Sie die Beispielbestellung mit einer Karte, die abgelehnt wird, und sehen Sie zu.',
        action: 'Bestellung starten',
      },
      find: {
        title: 'Den fehlgeschlagenen Knoten finden',
        text: 'Der Graph zeigt den ganzen Plan und was daraus wurde. Ein Knoten hat ein Kreuz: die Zahlung.',
        action: 'Zeigen',
      },
      why: {
        title: 'Den Grund lesen',
        text: 'Die erste Zeile neben dem Graphen sagt immer, warum. Die Karte wurde abgelehnt, also führte die Fehlerkante zu einer Entschuldigung statt zu den Lagern.',
        action: 'Und jetzt?',
      },
      mend: {
        title: 'Beheben',
        text: 'Ab der Zahlung mit einer anderen Karte erneut ausführen. Nur die Zahlung und was ihr folgt läuft erneut; der Rest behält sein Ergebnis.',
        action: 'Mit guter Karte erneut ausführen',
      },
      done: {
        title: 'Behoben',
        text: 'Derselbe Lauf, keine verlorene Arbeit. Ziehen Sie die Zeitleiste unter dem Graphen zu dem Augenblick, bevor er scheiterte.',
        action: 'Einen eigenen Workflow bauen',
      },
    },
  },
});
