/** Reads typed options of commands. */
import { NebulaError } from '@nebula/core';
import type { CommandOptions } from './services.ts';

export function textOption(options: CommandOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** The members that are not undefined. */
export function definedMembers<Members extends object>(
  members: Members,
): { [K in keyof Members]?: Exclude<Members[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** The values of a repeatable option. */
export function textsOption(options: CommandOptions, name: string): readonly string[] | undefined {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : undefined;
}

export function countOption(options: CommandOptions, name: string, fallback: number): number {
  const text = textOption(options, name);
  if (text === undefined) return fallback;
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new NebulaError('USAGE', `--${name} ${text}: not a whole number above 0`);
}

/** The project from `--project`. */
export function inProject(options: CommandOptions): { readonly project?: string } {
  return definedMembers({ project: textOption(options, 'project') });
}

/** Reads a typed version: `3` or `v3`. */
export function versionOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const version = Number(text.replace(/^v/, ''));
  if (Number.isInteger(version) && version > 0) return version;
  throw new NebulaError('USAGE', `${text} is not a version`, { hint: 'versions are 1, 2, 3 …' });
}
