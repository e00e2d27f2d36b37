/** What there is to say about a node behind its name: progress, attempts, rounds, waits, errors. */
import type { Gate } from '@nebula/core';
import type { NodeProgress } from '../live/node-progress.ts';
import type { Colors } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { gateText } from './gate-words.ts';
import { roundsText } from './scope-rows.ts';
import { waitingText } from './wait-words.ts';
import { tickText } from './words.ts';

interface NoteOptions {
  readonly colors: Colors;
  readonly now: number;
}

const BAR_CELLS = 12;

export function noteOf(node: NodeProgress, { colors, now }: NoteOptions): string {
  const attempt = node.attempts > 1 ? colors.yellow(`attempt ${node.attempts}`) : '';
  const error = node.error === null ? '' : `${node.error.code}: ${printableLine(node.error.message)}`;
  switch (node.status) {
    case 'running':
      return joined(
        attempt,
        bodyText(node, colors, now),
        childText(node, colors),
        progressText(node, colors),
        logText(node, colors),
      );
    case 'waiting': {
      if (node.waiting !== null) return colors.yellow(`waits ${waitingText(node.waiting, now)}`);
      if (node.gate !== null) return joined(colors.yellow(gateNote(node.gate, node.retryAt, now)), attempt);
      const wait = node.retryAt === null ? '' : colors.yellow(`retry in ${tickText(node.retryAt - now)}`);
      return joined(wait, attempt, colors.dim(error));
    }
    case 'failed':
      return joined(attempt, bodyText(node, colors, now), childText(node, colors), colors.red(error));
    case 'unknown':
      return joined(colors.magenta('outcome unknown'), colors.dim(error));
    case 'completed':
      return joined(
        node.attempts > 1 ? colors.dim(`${node.attempts} attempts`) : '',
        bodyText(node, colors, now),
        childText(node, colors),
      );
    case 'skipped':
    case 'cancelled':
      return colors.dim(node.status);
    case 'queued':
      return joined(attempt, colors.dim('queued'));
    default:
      return '';
  }
}

function gateNote(gate: Gate, until: number | null, now: number): string {
  return until === null ? `waits ${gateText(gate)}` : `begins in ${tickText(until - now)}`;
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('  ');
}

/** How far a loop is. */
function bodyText({ body, status }: NodeProgress, colors: Colors, now: number): string {
  if (body === null || body.rounds === null) return '';
  const { total, succeeded, failed } = body.rounds;
  const words = roundsText(body.rounds, colors);
  if (status !== 'running') return colors.dim(words);
  const bar = total === null || total === 0 ? '' : barText((succeeded + failed) / total, colors);
  const pause = body.until === null ? '' : colors.yellow(`next round in ${tickText(body.until - now)}`);
  return joined(bar, words, pause);
}

/** The execution that runs for it. */
function childText({ child, status }: NodeProgress, colors: Colors): string {
  if (child === null) return '';
  const words = `→ ${printableLine(child.workflowId)} ${child.executionId}`;
  return status === 'running' ? colors.cyan(words) : colors.dim(words);
}

function logText({ log }: NodeProgress, colors: Colors): string {
  return log === null ? '' : colors.dim(printableLine(log));
}

function progressText(node: NodeProgress, colors: Colors): string {
  const message = node.message === null ? '' : printableLine(node.message);
  if (node.fraction === null) return message;
  const fraction = Math.min(1, Math.max(0, node.fraction));
  return joined(`${barText(fraction, colors)} ${String(Math.floor(fraction * 100)).padStart(3)}%`, message);
}

function barText(fraction: number, colors: Colors): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_CELLS);
  return colors.cyan('━'.repeat(filled)) + colors.dim('─'.repeat(BAR_CELLS - filled));
}
