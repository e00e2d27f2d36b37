/** What stands in for an action: an answer, a function that gives one, or several answers one after the other. */
import { type ActionContext, type Json, NebulaError, parseDuration } from '@nebula/core';
import { ActionError, type ActionErrorOptions } from '@nebula/sdk';

/** Part of the context of a real action: a mock reaches nothing outside. */
export type MockContext = Pick<
  ActionContext,
  'executionId' | 'workflowId' | 'node' | 'attempt' | 'idempotencyKey' | 'signal' | 'log' | 'now' | 'sleep'
>;

/** Declared as a method, so that its author may say which input it gets: `(input: { amount: number }) => …`. */
export type MockFunction = { answer(input: Json, ctx: MockContext): unknown }['answer'];

/** An answer as it is, or how to come to one. */
export type Mock = Json | MockFunction | Answer;

/** Answers other than a plain output. */
export type Answer =
  | { readonly [MOCK]: 'fail'; readonly error: ActionError }
  | { readonly [MOCK]: 'sequence'; readonly answers: readonly Mock[] }
  | { readonly [MOCK]: 'after'; readonly delayMs: number; readonly then: Mock }
  | { readonly [MOCK]: 'hang' };

const MOCK: unique symbol = Symbol('mock');

/** The attempt fails. `fail('CARD_DECLINED')`, `fail('DOWN', { kind: 'SYSTEM' })`. */
export function fail(
  code: string,
  options: Omit<ActionErrorOptions, 'code'> & { readonly message?: string } = {},
): Answer {
  const { message = `${code} (a mock)`, ...rest } = options;
  return { [MOCK]: 'fail', error: new ActionError(message, { ...rest, code }) };
}

/** The first call gets the first answer, the second the second, and so on; the last one stays. */
export function sequence(answers: readonly Mock[]): Answer {
  if (answers.length === 0) {
    throw new NebulaError('MOCK_INVALID', 'a sequence has no answers', { hint: 'Write sequence([first, second])' });
  }
  return { [MOCK]: 'sequence', answers };
}

/** The answer comes after a while of virtual time: `after('5m', { ok: true })`. */
export function after(duration: string | number, then: Mock): Answer {
  return { [MOCK]: 'after', delayMs: durationMs(duration), then };
}

/** The attempt never ends by itself: only a time limit or a cancellation ends it. */
export function hang(): Answer {
  return { [MOCK]: 'hang' };
}

export function isAnswer(mock: unknown): mock is Answer {
  return typeof mock === 'object' && mock !== null && MOCK in mock;
}

/** Which kind of answer; undefined for a plain output or a function. */
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
