/** The journal, one entry per line, in the order of the entries. */
import { type AwaitedEvent, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import type { JournalFrame } from '../runs.ts';
import type { Colors, View } from '../terminal/io.ts';
import { column, columnRight, fit, printableLine } from '../terminal/width.ts';
import { waitingText } from './wait-words.ts';
import { clockText } from './words.ts';

const SEQ_CELLS = 5;
const TYPE_CELLS = 18;

export function journalLines(frames: readonly JournalFrame[], { colors, width }: View): string[] {
  return frames.flatMap((frame) =>
    frame.entries.map((entry, at) => {
      const head =
        at === 0
          ? `${columnRight(String(frame.seq), SEQ_CELLS)}  ${clockText(frame.at)}`
          : columnRight('·', SEQ_CELLS).padEnd(SEQ_CELLS + 2 + 12);
      return fit(`${colors.dim(head)}  ${entryText(entry, colors)}`, width);
    }),
  );
}

function entryText(entry: Json, colors: Colors): string {
  if (!isJsonObject(entry)) return printableLine(JSON.stringify(entry));
  const { type, ...rest } = entry;
  const word = typeof type === 'string' ? type : '?';
  return `${paintOf(word, colors)(column(word, TYPE_CELLS))}  ${fieldsText(rest, colors)}`.trimEnd();
}

function paintOf(type: string, colors: Colors): (text: string) => string {
  if (/completed|finished$|answered|resumed/.test(type)) return colors.green;
  if (/failed|unknown/.test(type)) return colors.red;
  if (/retrying|cancelled|stopping|returned|waiting|paused|compensating|delayed|refused|gated/.test(type))
    return colors.yellow;
  return type.startsWith('run.') ? colors.bold : colors.cyan;
}

/** The node first, then the other fields as `name=value`. */
function fieldsText(fields: JsonObject, colors: Colors): string {
  // The worker is long and rarely needed.
  const { node, nodes, scope, worker, ...others } = fields;
  const rest: JsonObject = worker === undefined ? others : { ...others, worker };
  const subject = subjectOf(node ?? scope ?? nodes);
  const parts = Object.entries(rest).map(([name, value]) => `${colors.dim(`${name}=`)}${valueText(name, value)}`);
  return [...subject.map((path) => colors.bold(printableLine(path))), ...parts].join(' ');
}

function subjectOf(named: Json | undefined): string[] {
  if (typeof named === 'string') return named === '' ? ['the run'] : [named];
  return Array.isArray(named) ? named.map(String) : [];
}

const MOMENTS: ReadonlySet<string> = new Set(['until', 'deadline']);
const STORED: ReadonlySet<string> = new Set(['input', 'output', 'items', 'payload', 'undo', 'graph']);

function valueText(name: string, value: Json): string {
  if (MOMENTS.has(name) && typeof value === 'number') return clockText(value);
  if (name === 'waits' && Array.isArray(value))
    return printableLine(waitingText({ events: value as unknown as AwaitedEvent[], deadline: null }));
  if (name === 'error' && isJsonObject(value)) {
    return printableLine(`${String(value.code)} ${JSON.stringify(value.message ?? '')}`);
  }
  if (name === 'decisions' && isJsonObject(value)) {
    return Object.entries(value)
      .map(([node, decision]) => `${String(decision)}:${printableLine(node)}`)
      .join(',');
  }
  // Inputs and outputs have a small envelope; readers want its content.
  if (STORED.has(name) && isJsonObject(value) && 'value' in value) {
    return plainText(value.value as Json);
  }
  return plainText(value);
}

function plainText(value: Json): string {
  if (typeof value === 'string' && /^[\w.@:/-]+$/.test(value)) return value;
  return printableLine(JSON.stringify(value));
}
