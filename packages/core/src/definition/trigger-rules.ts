/** Rules about triggers that the tables cannot express. */
import { cronProblem, isTimezone } from '../cron.ts';
import { parseDuration } from '../duration.ts';
import type { RuleContext } from './kind-rules.ts';
import { TRIGGER } from './trigger-keys.ts';

export function checkTrigger({ value, meant, report }: RuleContext): void {
  const kinds = Object.keys(TRIGGER.keys);
  const given = kinds.filter((kind) => Object.hasOwn(value, kind));
  if (given.length === 1 || (given.length === 0 && kinds.some((kind) => meant.has(kind)))) return;
  report({
    code: given.length === 0 ? 'MISSING_KIND' : 'SEVERAL_KINDS',
    message: given.length === 0 ? 'the trigger has no kind' : `the trigger has ${given.length} kinds`,
    hint: given.length === 0 ? `add one of ${kinds.join(', ')}` : 'make each kind a list item of its own',
    at: 'key',
  });
}

export function checkSchedule({ value: { cron, timezone }, report }: RuleContext): void {
  if (typeof cron === 'string') {
    const problem = cronProblem(cron);
    if (problem !== undefined) {
      const hint = 'minute hour day month weekday, e.g. "0 6 * * *" for 6 a.m.';
      report({
        code: 'BAD_CRON',
        message: `'${cron}' is not a valid cron expression: ${problem}`,
        hint,
        path: ['cron'],
      });
    }
  }
  if (typeof timezone === 'string' && !isTimezone(timezone)) {
    const hint = 'use a name from the IANA list, e.g. Europe/Berlin';
    report({ code: 'BAD_TIMEZONE', message: `there is no time zone '${timezone}'`, hint, path: ['timezone'] });
  }
}

export const MIN_INTERVAL_MS = 1_000;

export function checkInterval({ value: { every }, report }: RuleContext): void {
  const everyMs = typeof every === 'string' ? parseDuration(every) : undefined;
  if (typeof everyMs !== 'number' || everyMs === 0 || everyMs >= MIN_INTERVAL_MS) return;
  const hint = 'use 1s or more';
  report({ code: 'BAD_DURATION', message: `'every' is ${every}, which is too often`, hint, path: ['every'] });
}

const PATH = /^(\/[a-zA-Z0-9_.~-]+)+$/;

export function checkWebhook({ value: { path }, report }: RuleContext): void {
  if (typeof path !== 'string' || PATH.test(path)) return;
  const hint = 'start with / and use letters, digits, _, -, . and ~, e.g. /orders/new';
  report({ code: 'BAD_PATH', message: `'${path}' cannot be the path of a webhook`, hint, path: ['path'] });
}

export function checkSignature({ value, report }: RuleContext): void {
  if (value.scheme !== 'token') return;
  for (const key of ['algorithm', 'encoding'] as const) {
    if (!Object.hasOwn(value, key)) continue;
    const hint = 'remove it: a token is compared unchanged';
    report({
      code: 'MISPLACED_KEY',
      message: `'${key}' applies only to the scheme hmac`,
      hint,
      path: [key],
      at: 'key',
    });
  }
}
