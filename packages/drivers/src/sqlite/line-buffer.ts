/**
 * Log lines that wait to be written.
 *
 *  1. At most `maxLines` and `maxChars` wait. In a flood the least important lines are dropped first, oldest first.
 *  2. A line that can never be written is replaced by a note, so that no other line and no frame waits for it.
 *  3. For every execution that lost lines, a note with their number precedes its next lines.
 */
import type { ExecutionId } from '@nebula/core';
import { type EncodedLine, encodeLine } from '@nebula/ports/rows';

export interface LineBufferLimits {
  readonly maxLines: number;
  readonly maxChars: number;
}

const LINE_BUFFER_LIMITS: LineBufferLimits = { maxLines: 10_000, maxChars: 16_000_000 };

/** Lines are dropped many at a time, so that the cost spreads over many lines. */
const KEEP_FRACTION = 0.75;

const HIGHEST_RANK = 3;

export class LineBuffer {
  readonly #limits: LineBufferLimits;
  #lines: EncodedLine[] = [];
  #chars = 0;
  #dropped = new Map<string, EncodedLine>();

  constructor(limits: LineBufferLimits = LINE_BUFFER_LIMITS) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#dropped.size === 0;
  }

  push(line: EncodedLine): void {
    this.#lines.push(line);
    this.#chars += charsOf(line);
    if (this.#lines.length > this.#limits.maxLines || this.#chars > this.#limits.maxChars) this.#drop();
  }

  take(max: number): readonly EncodedLine[] {
    if (this.isEmpty) return [];
    const taken = [...this.#dropped.values(), ...this.#lines.splice(0, max)];
    this.#dropped.clear();
    this.#recount();
    return taken;
  }

  /** Returns lines that were taken and could not be written. */
  putBack(lines: readonly EncodedLine[]): void {
    if (lines.length === 0) return;
    const newer = this.#lines;
    this.#lines = [...lines];
    this.#recount();
    for (const line of newer) this.push(line);
  }

  forget(executionId: ExecutionId): void {
    this.#lines = this.#lines.filter((line) => line.executionId !== executionId);
    this.#dropped.delete(executionId);
    this.#recount();
  }

  #drop(): void {
    const { maxLines, maxChars } = this.#limits;
    const fits = (): boolean => count <= maxLines * KEEP_FRACTION && this.#chars <= maxChars * KEEP_FRACTION;
    let count = this.#lines.length;
    for (let rank = 0; rank <= HIGHEST_RANK && !fits(); rank++) {
      this.#lines = this.#lines.filter((line) => {
        if (line.level !== rank || fits()) return true;
        count--;
        this.#chars -= charsOf(line);
        this.#noteDropped(line);
        return false;
      });
    }
  }

  #noteDropped(line: EncodedLine): void {
    const before = this.#dropped.get(line.executionId);
    const total = droppedBy(before) + (droppedBy(line) || 1);
    const message = `${total} log lines were dropped here: they came faster than they could be written.`;
    const { executionId, at } = line;
    const note = encodeLine({
      executionId,
      node: null,
      attempt: null,
      at,
      level: 'warn',
      message,
      fields: { dropped: total },
    });
    NOTES.set(note, total);
    this.#dropped.set(executionId, note);
  }

  #recount(): void {
    this.#chars = this.#lines.reduce((sum, line) => sum + charsOf(line), 0);
  }
}

/** The note that replaces a line that cannot be written. */
export function setAside({ executionId }: EncodedLine, error: unknown): EncodedLine {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `A log line could not be written and was set aside: ${reason}.`;
  return encodeLine({ executionId, node: null, attempt: null, at: 0, level: 'warn', message });
}

/** Our own notes, and the number of lines that each stands for: a line of an action may look the same. */
const NOTES = new WeakMap<EncodedLine, number>();

function droppedBy(line: EncodedLine | undefined): number {
  return line === undefined ? 0 : (NOTES.get(line) ?? 0);
}

function charsOf(line: EncodedLine): number {
  return line.message.length + (line.fields?.length ?? 0);
}
