/** Functions of numbers. */
import { valueError } from '../expression-error.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

/** A double has no more digits to show beyond this. */
const MAX_DECIMALS = 20;

const ofNumber = functionsOn<number>(['number']);

export const numberFunctions: readonly FunctionDefinition[] = [
  ofNumber(
    'round(decimals?: integer)',
    'Rounds to the given number of decimals, halves away from zero.',
    ['2.345.round(2)', 2.35],
    (_, value, decimals = 0) => roundTo(value, decimals),
  ),
  ofNumber('floor()', 'The next lower integer.', ['2.7.floor()', 2], (_, value) => Math.floor(value)),
  ofNumber('ceil()', 'The next higher integer.', ['2.1.ceil()', 3], (_, value) => Math.ceil(value)),
  ofNumber('trunc()', 'The number without its decimals.', ['(-2.7).trunc()', -2], (_, value) => Math.trunc(value)),
  ofNumber('abs()', 'The absolute value.', ['(-5).abs()', 5], (_, value) => Math.abs(value)),
  ofNumber('sign()', 'The sign of the number: -1, 0 or 1.', ['(-5).sign()', -1], (_, value) => Math.sign(value)),
  ofNumber('sqrt()', 'The square root.', ['9.sqrt()', 3], (_, value) => {
    if (value < 0) throw valueError('a negative number has no square root');
    return Math.sqrt(value);
  }),
  ofNumber(
    'pow(exponent: number)',
    'The number raised to a power.',
    ['2.pow(10)', 1024],
    (_, value, exponent: number) => value ** exponent,
  ),
  ofNumber('min(other: number)', 'The smaller of the two.', ['7.min(5)', 5], (_, value, other: number) =>
    Math.min(value, other),
  ),
  ofNumber('max(other: number)', 'The larger of the two.', ['7.max(5)', 7], (_, value, other: number) =>
    Math.max(value, other),
  ),
  ofNumber(
    'clamp(low: number, high: number)',
    'Limits the number to the range.',
    ['12.clamp(0, 10)', 10],
    (_, value, low: number, high: number) => {
      if (low > high) throw valueError(`the range ${low} to ${high} is empty`);
      return Math.min(Math.max(value, low), high);
    },
  ),
  ofNumber('isInteger()', 'Whether the number is a whole number.', ['3.isInteger()', true], (_, value) =>
    Number.isInteger(value),
  ),
  ofNumber(
    'toFixed(decimals: integer)',
    'The number as text with exactly the given number of decimals.',
    ['2.5.toFixed(2)', '2.50'],
    (_, value, decimals: number) => fixedText(value, decimals),
  ),
  ofNumber(
    'format(decimals?: integer, group?: string, point?: string)',
    'The number as text with groups of three digits.',
    [`1234567.891.format(2)`, '1,234,567.89'],
    (_, value, decimals?: number, group = ',', point = '.') => {
      const text = decimals === undefined ? String(value) : fixedText(value, decimals);
      const [whole = '', fraction] = text.split('.');
      const grouped = whole.replace(/\B(?=(\d{3})+$)/g, () => group);
      return fraction === undefined ? grouped : grouped + point + fraction;
    },
  ),
];

function fixedText(value: number, decimals: number): string {
  if (decimals < 0) throw valueError('the number of decimals must be 0 or more');
  return roundTo(value, decimals).toFixed(decimals);
}

/** Rounds the shortest decimal form, so that 1.005 becomes 1.01 and not 1. */
function roundTo(value: number, decimals: number): number {
  if (decimals < -MAX_DECIMALS || decimals > MAX_DECIMALS) {
    throw valueError(`decimals must be between -${MAX_DECIMALS} and ${MAX_DECIMALS}`);
  }
  const rounded = shifted(Math.round(shifted(Math.abs(value), decimals)), -decimals);
  return value < 0 ? -rounded : rounded;
}

function shifted(value: number, decimals: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e');
  return Number(`${mantissa}e${Number(exponent) + decimals}`);
}
