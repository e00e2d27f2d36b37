/** Parses lists of HTTP statuses: `4xx,5xx`, `404,500-599`, `none`. */
import { ActionError } from '@nebula/sdk';

export function statusMatcher(list: string, name: string): (status: number) => boolean {
  if (list.trim() === 'none') return () => false;
  const ranges = list.split(',').map((part) => rangeOf(part.trim(), name));
  return (status) => ranges.some(([from, to]) => status >= from && status <= to);
}

function rangeOf(part: string, name: string): readonly [from: number, to: number] {
  const group = /^([1-5])xx$/i.exec(part);
  if (group) return [Number(group[1]) * 100, Number(group[1]) * 100 + 99];
  const range = /^(\d{3})(?:-(\d{3}))?$/.exec(part);
  if (range) return [Number(range[1]), Number(range[2] ?? range[1])];
  throw new ActionError(`${name}: '${part}' is not a status`, {
    code: 'INPUT_INVALID',
    parameter: name,
    hint: 'Write it as 404, 4xx or 500-599, several with commas, or none',
  });
}

/** The value of `Retry-After` (seconds or a date) in milliseconds from now. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
