/** Numbers and times in the words of people. */

import { formatDuration } from '@nebula/core';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time that is still running: always with tenths, so that it ticks calmly. */
export function tickText(ms: number): string {
  return ms < 10 * SECOND
    ? `${(Math.max(0, ms) / SECOND).toFixed(1)}s`
    : formatDuration(Math.floor(ms / SECOND) * SECOND);
}

/** `just now`, `12s ago`, `3m ago`, `5h ago`, `2d ago`, then the date. */
export function agoText(at: number, now: number): string {
  const ago = now - at;
  if (ago < 2 * SECOND) return 'just now';
  if (ago < MINUTE) return `${Math.floor(ago / SECOND)}s ago`;
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)}m ago`;
  if (ago < DAY) return `${Math.floor(ago / HOUR)}h ago`;
  if (ago < 30 * DAY) return `${Math.floor(ago / DAY)}d ago`;
  return new Date(at).toISOString().slice(0, 10);
}

/** `1,234`. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 node`, `2 nodes`. */
export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** The time since the start: `0.00s`, `12.34s`, `2:05.1`. */
export function offsetText(ms: number): string {
  const length = Math.max(0, ms);
  if (length < MINUTE) return `${(length / SECOND).toFixed(2)}s`;
  const minutes = Math.floor(length / MINUTE);
  return `${minutes}:${((length % MINUTE) / SECOND).toFixed(1).padStart(4, '0')}`;
}

/** `14:03:07.123+02:00`: the local time with its offset from UTC. */
export function clockText(at: number): string {
  const ms = String(new Date(at).getMilliseconds()).padStart(3, '0');
  return `${timeOfDay(at)}.${ms}${zoneText(at)}`;
}

/** `14:03:07+02:00`. */
export function secondText(at: number): string {
  return `${timeOfDay(at)}${zoneText(at)}`;
}

const two = (part: number): string => String(part).padStart(2, '0');

function timeOfDay(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The offset of the local time at this moment: `Z`, `+02:00`. */
function zoneText(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const length = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(length / 60))}:${two(length % 60)}`;
}

/** `14:03:07+02:00 (in 2h)`, with the date if it is another day; without `now` only the moment. */
export function momentText(at: number, now?: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = secondText(at);
  if (now === undefined) return `${day} ${time}`;
  const moment = new Date(now).toDateString() === date.toDateString() ? time : `${day} ${time}`;
  return `${moment} (${at <= now ? 'now' : `in ${formatDuration(Math.ceil((at - now) / SECOND) * SECOND)}`})`;
}

/** `undo charge` for `~undo/charge`: a compensation has its own scope, under the path of the node that it undoes. */
export function shownPath(path: string): string {
  const cut = path.indexOf('~undo/');
  return cut < 0 ? path : `undo ${path.slice(cut + '~undo/'.length).replaceAll(':', '/')}`;
}

/** Quotes a text as one word for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Shortens a text that would flood the screen, with a note of its length. */
export function shortened(text: string, max: number): { readonly kept: string; readonly note: string } {
  if (text.length <= max) return { kept: text, note: '' };
  // Half of a surrogate pair is no character.
  const kept = text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
  return { kept: `${kept}…`, note: ` (${countText(text.length)} characters)` };
}

/** The version of a run in lists and titles. The definition of a test run is no version. */
export function versionWord(version: number): string {
  return version === 0 ? 'test' : `v${version}`;
}
