/** Mocks of actions: an answer, a function that returns one, or a sequence of answers. */
import { type ActionContext, type Json, NebulaError, parseDuration } from '@nebula/core';
import { ActionError, type ActionErrorOptions } from '@nebula/sdk';

/** The part of an action's context that a mock gets; a mock cannot reach the host. */
export type MockContext = Pick<
  ActionContext,
  'executionId' | 'workflowId' | 'node' | 'attempt' | 'idempotencyKey' | 'signal' | 'log' | 'now' | 'sleep'
>;

/** Declared as a method, so that its author can narrow the input type: `(input: { amount: number }) => …`. */
export type MockFunction = { answer(input: Json, ctx: MockContext): unknown }['answer'];

/** A plain output, or a way to compute one. */
export type Mock = Json | MockFunction | Answer;

/** Answers other than a plain output. */
export type Answer =
  | { readonly [MOCK]: 'fail'; readonly error: ActionError }
  | { readonly [MOCK]: 'sequence'; readonly answers: readonly Mock[] }
  | { readonly [MOCK]: 'after'; readonly delayMs: number; readonly then: Mock }
  | { readonly [MOCK]: 'hang' };

const MOCK: unique symbol = Symbol('mock');

/** Fails the attempt: `fail('CARD_DECLINED')`, `fail('DOWN', { kind: 'SYSTEM' })`. */
export function fail(
  code: string,
  options: Omit<ActionErrorOptions, 'code'> & { readonly message?: string } = {},
): Answer {
  const { message = `${code} (a mock)`, ...rest } = options;
  return { [MOCK]: 'fail', error: new ActionError(message, { ...rest, code }) };
}

/** Returns the answers in order, one per call; the last one repeats. */
export function sequence(answers: readonly Mock[]): Answer {
  if (answers.length === 0) {
    throw new NebulaError('MOCK_INVALID', 'a sequence has no answers', { hint: 'Write sequence([first, second])' });
  }
  return { [MOCK]: 'sequence', answers };
}

/** Answers after a delay in virtual time: `after('5m', { ok: true })`. */
export function after(duration: string | number, then: Mock): Answer {
  return { [MOCK]: 'after', delayMs: durationMs(duration), then };
}

/** Never ends by itself; only a timeout or a cancellation ends the attempt. */
export function hang(): Answer {
  return { [MOCK]: 'hang' };
}

export function isAnswer(mock: unknown): mock is Answer {
  return typeof mock === 'object' && mock !== null && MOCK in mock;
}

/** The kind of an answer that is not a plain output or a function. */
export function kindOf(answer: Answer): Answer[typeof MOCK] {
  return answer[MOCK];
}

export function durationMs(duration: string | number): number {
  if (typeof duration === 'number' && duration >= 0) return duration;
  const parsed = typeof duration === 'string' ? parseDuration(duration) : undefined;
  if (typeof parsed === 'number') return parsed;
  throw new NebulaError('DURATION_INVALID', `${JSON.stringify(duration)} is not a duration`, {
    hint: 'Write 250ms, 10s, 5m, 2h or 30d',
  });
}
