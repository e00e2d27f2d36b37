/** Credentials with several fields: a secret whose value is a JSON object, `{"username": "…", "password": "…"}`. */
import type { ActionContext, Json } from '@nebula/core';
import { isJsonObject } from '@nebula/core/authoring';
import { ActionError } from './action-error.ts';

/** The members of a credential that is a JSON object, as text. The error never contains the value. */
export async function credentialFields(
  ctx: Pick<ActionContext, 'credential'>,
  alias: string,
): Promise<Readonly<Record<string, string>>> {
  const fields = parsed(await ctx.credential(alias));
  if (isJsonObject(fields)) {
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value as Json)]));
  }
  throw new ActionError(`the credential '${alias}' is not a JSON object`, {
    code: 'CREDENTIAL_INVALID',
    hint: `Set the secret to a JSON object: {"username": "…", "password": "…"}`,
  });
}

function parsed(value: string): Json {
  try {
    return JSON.parse(value) as Json;
  } catch {
    return null;
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
