/**
 * Checks grants: an attempt has a capability if its action declares the kind and the grant covers the resource. A
 * refusal names the line of YAML that would grant it.
 */
import { type Capabilities, type CapabilityList, grantLine, NebulaError, patternsOf } from '@nebula/core';
import type { Invocation } from '@nebula/ports';

export type Kind = keyof Capabilities;

/** The requested capability, in the words of the workflow. */
export interface Wanted {
  readonly kind: Kind;
  /** The verb and resource for the message: `reach api.example.com`. */
  readonly doing: string;
  /** The entry that would grant it. */
  readonly entry: string;
  readonly access?: 'read' | 'write';
}

export function demand(invocation: Invocation, wanted: Wanted, covers: (pattern: string) => boolean): void {
  if (!declares(invocation, wanted.kind)) throw undeclared(invocation, wanted);
  if (!grants(patterns(invocation.granted, wanted), covers)) throw denied(invocation, wanted);
}

/** Returns whether some entry matches. All patterns of a narrowed entry must match. */
export function grants(entries: readonly string[], covers: (pattern: string) => boolean): boolean {
  return entries.some((entry) => patternsOf(entry).every(covers));
}

export function declares(invocation: Invocation, kind: Kind): boolean {
  return invocation.action.capabilities?.includes(kind) ?? false;
}

const NONE: readonly string[] = [];

function patterns(granted: Capabilities, { kind, access }: Wanted): readonly string[] {
  if (kind === 'files') return (access === undefined ? undefined : granted.files?.[access]) ?? NONE;
  return granted[kind] ?? NONE;
}

export function denied(invocation: Invocation, wanted: Wanted, because = 'it is not granted'): NebulaError {
  const line = grantLine(listOf(wanted), wanted.entry);
  // The YAML comes last, so that it can be copied to the end of the message.
  const hint = `Grant it in the workflow, within the ceiling of the project: ${line}`;
  return refusal(invocation, wanted, because, hint);
}

function listOf({ kind, access }: Wanted): CapabilityList {
  return kind === 'files' ? `files.${access ?? 'read'}` : kind;
}

function undeclared(invocation: Invocation, wanted: Wanted): NebulaError {
  return refusal(
    invocation,
    wanted,
    `the action does not declare '${wanted.kind}'`,
    `Add it to the action's definition: capabilities: ['${wanted.kind}']`,
  );
}

function refusal({ action }: Invocation, wanted: Wanted, because: string, hint: string): NebulaError {
  return new NebulaError('CAPABILITY_DENIED', `${action.id} may not ${wanted.doing}: ${because}`, {
    hint,
    details: { capability: wanted.kind, wanted: wanted.entry, ...(wanted.access && { access: wanted.access }) },
  });
}
