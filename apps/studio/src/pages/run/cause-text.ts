/**
 * The sentence of a cause in the language of the page. The server words causes in English; other languages make their
 * sentence from the code and the values of the cause. Error messages are the workflow's own and stay as they are.
 */
import type { AnswerOf } from '@nebula/client';
import type { CauseCode } from '@nebula/core/view';
import type { Language } from '../../text/define-text.ts';
import type { Format } from '../../text/format.ts';

export type ShownCause = AnswerOf<'explainExecution'>['causes'][number];

/** The values of a cause, read by name. */
interface Values {
  text(name: string): string;
  number(name: string): number | undefined;
  list(name: string): readonly string[];
  keys(name: string): readonly string[];
  /** The events that a node waits for. */
  events(): readonly AwaitedEvent[];
  /** The time since a moment, or until it. */
  span(name: string): string;
  duration(name: string): string;
}

type Wording = (cause: ShownCause, values: Values) => string;

/** A cause whose wording is missing does not compile. */
const GERMAN: Readonly<Record<CauseCode, Wording>> = {
  'attempt-failed': (_, v) =>
    `Versuch ${v.text('attempt')} scheiterte mit ${v.text('code')}; der nächste beginnt in ${v.span('until')}.`,
  'attempt-running': (_, v) => `Versuch ${v.text('attempt')} läuft seit ${v.span('since')} auf ${v.text('worker')}.`,
  'body-running': (_, v) => {
    const done = v.number('succeeded');
    const total = v.number('total');
    if (done === undefined) return `Der Inhalt läuft seit ${v.span('since')}.`;
    return `${done}${total === undefined ? '' : ` von ${total}`} Durchläufen sind fertig, ${v.text('open')} laufen, ${v.text('failed')} scheiterten.`;
  },
  'cache-hit': () => 'Die Ausgabe stammt aus dem Cache.',
  'cache-miss': (_, v) => {
    const changed = v.list('changed');
    return changed.length === 0
      ? 'Der Cache hatte keine passende Ausgabe.'
      : `Der Cache hatte keine passende Ausgabe: ${changed.join(', ')} ist anders.`;
  },
  cancelled: () => 'Wurde angehalten, bevor die Arbeit getan war.',
  'child-running': (_, v) => `Der untergeordnete Lauf läuft seit ${v.span('since')}.`,
  collapsed: () => 'Der Durchlauf ist beendet; sein Inhalt steht im Journal.',
  completed: (_, v) => {
    const attempt = v.number('attempt');
    return attempt === undefined
      ? 'Alle Knoten sind beendet, kein Fehler blieb offen.'
      : `Abgeschlossen mit Versuch ${attempt}.`;
  },
  compensating: (_, v) => `Wird zurückgenommen, nachdem ${v.text('code')} auftrat.`,
  concurrency: (_, v) =>
    `Wartet seit ${v.span('since')} auf einen Platz von „${v.text('key')}“ (höchstens ${v.text('limit')}).`,
  edge: ({ edge }, v) => {
    if (edge === undefined) return 'Eine Kante ist entschieden.';
    const verdicts = {
      taken: 'wird genommen',
      choice: 'nicht genommen',
      failure: 'durch einen Fehler tot',
      undecided: 'noch nicht entschieden',
    };
    return `Kante ${edge.from} → ${edge.to}: ${verdicts[edge.verdict]} (${edge.from}: ${v.text('status')}).`;
  },
  ending: (_, v) => `Endet gleich als ${v.text('status') || v.text('code')}.`,
  error: ({ message }) => message,
  finally: () => 'Gehört zum Aufräumen (finally) und beginnt, wenn die anderen Knoten beendet sind.',
  handling: (_, v) => HANDLING[v.text('handling')] ?? 'Der Fehler wurde behandelt.',
  'held-back': (_, v) => `Beginnt in ${v.span('until')}, wenn bis dahin kein neuer Start kommt.`,
  'held-by': ({ link }) =>
    link === undefined ? 'Niemand hat den Platz gerade inne.' : `Den Platz hat ${link.executionId} inne.`,
  inside: ({ node }) => `Gescheitert ist der Knoten „${node ?? ''}“ darin.`,
  level: (_, v) => `Wartet auf das Ende der Stufe ${v.text('level')} (mode: levels).`,
  'never-started': () => 'Begann nie: der Lauf war vorher zu Ende.',
  once: () => 'Die Wirkung ist „once“: ohne Klärung wird nichts wiederholt.',
  parallelism: (_, v) =>
    `Wartet seit ${v.duration('waitedMs')} auf einen freien Platz; ${v.text('limit')} sind erlaubt und belegt von ${v.list('holders').join(', ')}.`,
  paused: (_, v) => `Der Lauf ist seit ${v.span('since')} pausiert.`,
  pending: (_, v) => {
    const nodes = v.list('nodes');
    return nodes.length === 0 ? 'Beginnt gleich.' : `Noch nicht beendet: ${nodes.join(', ')}.`;
  },
  pinned: () => 'Das Ergebnis war für diesen Testlauf vorgegeben (Pin).',
  place: (_, v) => `Wartet auf einen Platz von „${v.text('key')}“ (höchstens ${v.text('limit')}).`,
  rate: (_, v) => `Wartet auf die Ratenbegrenzung von „${v.text('key')}“.`,
  retries: (_, v) => {
    const code = v.text('code');
    if (v.list('on').length > 0) return `Keine Wiederholung: ${code} passt nicht zu retry.on.`;
    return code === ''
      ? 'Eine Wiederholung ändert hier nichts: zuerst den Workflow korrigieren.'
      : `Keine Wiederholungen mehr für ${code}.`;
  },
  'round-delayed': (_, v) => `Der nächste Durchlauf beginnt in ${v.span('until')}.`,
  'single-flight': (_, v) => `Wartet seit ${v.span('since')} auf einen Lauf, der dieselbe Ausgabe berechnet.`,
  skipped: (_, v) => SKIPPED[v.text('why')] ?? 'Übersprungen.',
  'unknown-outcome': (_, v) => `Niemand weiß, ob Versuch ${v.text('attempt')} gewirkt hat.`,
  upstream: (_, v) => `Wartet auf ${v.keys('sources').join(', ') || 'vorangehende Knoten'}.`,
  wait: (_, v) => {
    if (v.number('deadline') !== undefined) return `Scheitert, wenn in ${v.span('deadline')} nichts kommt.`;
    return `Wartet auf ${v.events().map(awaited).join(' oder ') || 'ein Ereignis'}.`;
  },
  worker: (_, v) =>
    `Ist seit ${v.duration('waitedMs')} bereit und wartet auf einen Worker${v.text('action') === '' ? '' : ` mit ${v.text('action')}`}.`,
};

interface AwaitedEvent {
  readonly kind: string;
  readonly title?: string;
  readonly signal?: string;
}

function awaited({ kind, title, signal }: AwaitedEvent): string {
  switch (kind) {
    case 'approval':
      return title === undefined ? 'eine Genehmigung' : `die Genehmigung „${title}“`;
    case 'signal':
      return `das Signal „${signal ?? ''}“`;
    case 'callback':
      return 'einen Aufruf';
    default:
      return 'einen Zeitpunkt';
  }
}

const HANDLING: Readonly<Record<string, string>> = {
  handled: 'Eine Fehlerkante hat den Fehler behandelt.',
  ignored: 'Der Fehler wurde ignoriert (onError: ignore).',
  tolerated: 'Nichts hat ihn behandelt; der Workflow ignoriert Fehler (onFailure: ignore).',
  deferred: 'Nichts hat ihn behandelt; der Lauf scheitert, wenn die anderen Knoten fertig sind.',
  fatal: 'Nichts hat den Fehler behandelt, darum endete der Lauf.',
};

const SKIPPED: Readonly<Record<string, string>> = {
  when: 'Übersprungen: die Bedingung ist falsch (when).',
  disabled: 'Übersprungen: der Knoten ist abgeschaltet.',
  failure: 'Übersprungen: ein Schritt davor ist gescheitert.',
  dead: 'Übersprungen: keine der Kanten hierher wurde genommen.',
};

export function sentenceOf(cause: ShownCause, language: Language, format: Format, now: number): string {
  if (language === 'en' || !isKnown(cause.code)) return cause.message;
  return GERMAN[cause.code](cause, valuesOf(cause.value ?? {}, format, now));
}

/** A newer server may know more causes. */
function isKnown(code: string): code is CauseCode {
  return Object.hasOwn(GERMAN, code);
}

function valuesOf(values: Readonly<Record<string, unknown>>, format: Format, now: number): Values {
  const number = (name: string): number | undefined => {
    const value = values[name];
    return typeof value === 'number' ? value : undefined;
  };
  return {
    text: (name) => (values[name] === undefined || values[name] === null ? '' : String(values[name])),
    number,
    list: (name) => (Array.isArray(values[name]) ? values[name].map(String) : []),
    keys: (name) => Object.keys((values[name] as object | undefined) ?? {}),
    events: () => (Array.isArray(values['events']) ? (values['events'] as AwaitedEvent[]) : []),
    span: (name) => format.duration(Math.abs(now - (number(name) ?? now))),
    duration: (name) => format.duration(number(name) ?? 0),
  };
}
