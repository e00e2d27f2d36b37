/** The note behind the name of a node: progress, attempts, iterations, waits, errors. */
import type { BareNode, WaitDocument } from '@nebula/core';
import type { Hint } from '../live/shown-run.ts';
import type { Colors } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { iterationsText } from './scope-rows.ts';
import { gateText, waitingText } from './wait-words.ts';
import { tickText } from './words.ts';

interface NoteOptions {
  readonly colors: Colors;
  readonly now: number;
  /** Since when the run is paused. */
  readonly paused?: number | undefined;
}

const BAR_CELLS = 12;

/** `hint`: progress and last log line of the action. */
export function noteOf(node: BareNode, hint: Hint, { colors, now, paused }: NoteOptions): string {
  // The timers of a paused run stand still.
  const timersAt = paused ?? now;
  const attempt = node.attempts > 1 ? colors.yellow(`attempt ${node.attempts}`) : '';
  const error = node.error === null ? '' : `${node.error.code}: ${printableLine(node.error.message)}`;
  switch (node.status) {
    case 'running':
      return joined(
        attempt,
        iterationsNote(node, colors, timersAt),
        childText(node, colors),
        progressText(hint, colors),
        hint.log === undefined ? '' : colors.dim(printableLine(hint.log)),
      );
    case 'waiting':
      if (node.waitsFor?.kind === 'event') return colors.yellow(`waits ${waitingText(node.waitsFor, now, paused)}`);
      return joined(colors.yellow(waitNote(node.waitsFor, timersAt)), attempt, colors.dim(error));
    case 'failed':
      return joined(attempt, iterationsNote(node, colors, timersAt), childText(node, colors), colors.red(error));
    case 'unknown':
      return joined(colors.magenta('outcome unknown'), colors.dim(error));
    case 'completed':
      return joined(
        node.attempts > 1 ? colors.dim(`${node.attempts} attempts`) : '',
        iterationsNote(node, colors, timersAt),
        childText(node, colors),
      );
    case 'skipped':
    case 'cancelled':
      return colors.dim(node.status);
    case 'queued':
      return joined(attempt, colors.dim('queued'));
    case 'pending':
      return '';
  }
}

function waitNote(wait: WaitDocument | undefined, now: number): string {
  if (wait?.kind === 'retry') return `retry in ${tickText(Date.parse(wait.until) - now)}`;
  if (wait?.kind !== 'gate') return '';
  return wait.until === null ? `waits ${gateText(wait.gate)}` : `begins in ${tickText(Date.parse(wait.until) - now)}`;
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('  ');
}

/** The progress of a loop. */
function iterationsNote({ rounds: iterations, status, finishedAt }: BareNode, colors: Colors, now: number): string {
  if (iterations === undefined) return '';
  const { total, succeeded, failed, nextAt } = iterations;
  const words = iterationsText(iterations, { colors, isEnded: finishedAt !== null });
  if (status !== 'running') return colors.dim(words);
  const bar = total === null || total === 0 ? '' : barText((succeeded + failed) / total, colors);
  const pause = nextAt === undefined ? '' : colors.yellow(`next iteration in ${tickText(Date.parse(nextAt) - now)}`);
  return joined(bar, words, pause);
}

/** The child of the node. */
function childText({ child, status }: BareNode, colors: Colors): string {
  if (child === undefined) return '';
  const words = `→ ${printableLine(child.workflowId ?? child.plan ?? '')} ${child.executionId}`;
  return status === 'running' ? colors.cyan(words) : colors.dim(words);
}

function progressText({ fraction, message = '' }: Hint, colors: Colors): string {
  if (fraction === undefined) return printableLine(message);
  const share = Math.min(1, Math.max(0, fraction));
  return joined(`${barText(share, colors)} ${String(Math.floor(share * 100)).padStart(3)}%`, printableLine(message));
}

function barText(fraction: number, colors: Colors): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_CELLS);
  return colors.cyan('━'.repeat(filled)) + colors.dim('─'.repeat(BAR_CELLS - filled));
}
