import { randomBytes } from 'node:crypto';
import {
  compileValue,
  createBudget,
  EXPRESSION_LIMITS,
  ExpressionError,
  isJsonObject,
  type Json,
  type JsonObject,
  NebulaError,
  parseExpression,
  type Scope,
} from '@nebula/core';
import { jsonOption } from '../input.ts';
import { print } from '../print.ts';
import type { Call, Command } from '../services.ts';
import { jsonLines } from '../views/json.ts';

export const execute: Command = async (call, [source = '']) => {
  const { out } = call.io;
  const value = evaluate(source, await scopeOf(call));
  return print(call, { value }, () => jsonLines(value, { colors: out.colors, width: out.columns() }).lines);
};

/** A text with `{{ }}` is a template, as in a workflow; anything else is an expression. */
function evaluate(source: string, scope: Scope): Json {
  try {
    const compiled = source.includes('{{') ? compileValue(source) : parseExpression(source);
    return compiled.evaluate(
      scope,
      createBudget(EXPRESSION_LIMITS, () => performance.now()),
    );
  } catch (error) {
    throw error instanceof ExpressionError ? new PointedError(error, source) : error;
  }
}

/** Shows the part of the expression that failed above the message. */
class PointedError extends NebulaError {
  readonly preface: readonly string[];

  constructor(error: ExpressionError, source: string) {
    super(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
    this.preface = pointedLines(source, error.offset, error.length);
  }
}

const DRAWN_BYTES = 32;
const SHOWN_BEFORE = 60;
const SHOWN_AFTER = 100;
const HARMFUL = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** The source around the error. Each character takes one cell, so that the carets line up. */
function pointedLines(source: string, offset: number, length: number): string[] {
  const from = Math.max(0, offset - SHOWN_BEFORE);
  const to = offset + SHOWN_AFTER;
  const before = from > 0 ? '…' : '';
  const line = source.slice(from, to).replace(/\s/g, ' ').replace(HARMFUL, '\uFFFD');
  const marks = Math.max(1, Math.min(length, source.length - offset, SHOWN_AFTER));
  return [
    `  ${before}${line}${to < source.length ? '…' : ''}`,
    `  ${' '.repeat(before.length + offset - from)}${'^'.repeat(marks)}`,
  ];
}

async function scopeOf(call: Call): Promise<Scope> {
  const input = (await jsonOption(call, 'data')) ?? null;
  const vars = asObject((await jsonOption(call, 'vars')) ?? {}, '--vars');
  const outputs = asObject((await jsonOption(call, 'nodes')) ?? {}, '--nodes');
  const now = new Date(call.io.now()).toISOString();
  return {
    input,
    vars,
    trigger: { type: 'manual' },
    execution: { id: 'exe_eval', startedAt: now, attempt: 1 },
    workflow: { id: 'eval', version: 1 },
    node: (id) =>
      Object.hasOwn(outputs, id)
        ? { output: outputs[id] as Json, status: 'completed', success: true, error: null, attempts: 1, input: null }
        : undefined,
    draw: () => new Uint8Array(randomBytes(DRAWN_BYTES)),
  };
}

function asObject(value: Json, name: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new NebulaError('INPUT_INVALID', `${name} is not an object`, { hint: `${name} '{"name": …}'` });
}
