/** Log lines as rows: encoding, and limits of length. */
import { type ExecutionId, isMoment, type NodePath } from '@nebula/core';
import { type LogLevel, type LogLine, MAX_LOG_MESSAGE_CHARS, type StoredLogLine } from '../logs.ts';

const MAX_FIELDS_CHARS = 65_536;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];

/** A stored line: the level by rank, fields as JSON. */
export interface EncodedLine {
  readonly executionId: ExecutionId;
  readonly node: NodePath | null;
  readonly attempt: number | null;
  readonly at: number;
  readonly level: number;
  readonly message: string;
  readonly fields: string | null;
}

export function rankOf(level: LogLevel): number {
  const rank = LEVELS.indexOf(level);
  return rank < 0 ? 1 : rank; // untyped callers may give any text
}

/** Cuts long text, makes Unicode well-formed and the time one that a date can hold. Never throws. */
export function encodeLine(line: LogLine): EncodedLine {
  const { executionId, node, attempt } = line;
  return {
    executionId: typeof executionId === 'string' ? executionId : '',
    node: typeof node === 'string' ? node : null,
    attempt: Number.isSafeInteger(attempt) ? attempt : null,
    at: momentOf(line.at),
    level: rankOf(line.level),
    message: fitText(textOf(line.message)),
    fields: encodeFields(line.fields),
  };
}

export function decodeLine(line: EncodedLine, position: number): StoredLogLine {
  const { executionId, node, attempt, message } = line;
  const at = momentOf(line.at);
  const level = LEVELS[line.level] ?? 'info';
  const decoded = { position, executionId, node, attempt, at, level, message };
  return line.fields === null ? decoded : { ...decoded, fields: JSON.parse(line.fields) };
}

/** A line without a valid time is kept, at time 0: its text may matter. */
function momentOf(at: number): number {
  return isMoment(at) ? at : 0;
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    return String(message);
  } catch {
    return '';
  }
}

function fitText(text: string): string {
  if (text.length <= MAX_LOG_MESSAGE_CHARS) return text.toWellFormed();
  const cut = text.length - MAX_LOG_MESSAGE_CHARS;
  return `${text.slice(0, MAX_LOG_MESSAGE_CHARS).toWellFormed()}… (${cut} more characters were cut off)`;
}

function encodeFields(fields: LogLine['fields']): string | null {
  if (fields === undefined) return null;
  try {
    const text = JSON.stringify(fields);
    return text.length <= MAX_FIELDS_CHARS ? text : JSON.stringify({ cut: text.slice(0, 1_000) });
  } catch (error) {
    return JSON.stringify({ unreadable: String(error) });
  }
}
