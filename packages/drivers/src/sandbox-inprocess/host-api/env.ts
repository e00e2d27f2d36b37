/** Access to environment variables. */
import { matchesName } from '@nebula/core';
import type { Invocation } from '@nebula/ports';
import { declares, demand, grants } from '../grant.ts';
import type { Host } from '../host.ts';

export function readEnv(host: Host, invocation: Invocation, name: string): string | undefined {
  const wanted = { kind: 'env', doing: `read the environment variable ${name}`, entry: name } as const;
  demand(invocation, wanted, (pattern) => matchesName(pattern, name));
  return Object.hasOwn(host.env, name) && !isReserved(name) ? host.env[name] : undefined;
}

/**
 * No grant covers secrets and their keys: only `credential` hands them out, and they are redacted again. The token acts
 * for its owner, who may do more than the run.
 */
function isReserved(name: string): boolean {
  return name.startsWith('NEBULA_SECRET') || name === 'NEBULA_TOKEN';
}

/** The variables that a program started by this attempt sees: the granted ones, and PATH. */
export function grantedEnv(host: Host, invocation: Invocation): Record<string, string> {
  const patterns = declares(invocation, 'env') ? (invocation.granted.env ?? []) : [];
  const granted: Record<string, string> = {};
  for (const [name, value] of Object.entries(host.env)) {
    if (value === undefined || isReserved(name)) continue;
    if (name === 'PATH' || grants(patterns, (pattern) => matchesName(pattern, name))) granted[name] = value;
  }
  return granted;
}
