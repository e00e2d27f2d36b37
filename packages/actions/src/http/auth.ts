/** Adds a credential to a request, so that it is not part of any parameter. */
import type { ActionContext } from '@nebula/core';
import { ActionError, credentialFields } from '@nebula/sdk';

export interface Auth {
  readonly type: 'bearer' | 'basic' | 'header' | 'query';
  readonly credential: string;
  readonly field?: string;
  readonly username?: string;
  readonly name?: string;
}

export async function authorise(ctx: ActionContext, auth: Auth, url: URL, headers: Headers): Promise<void> {
  switch (auth.type) {
    case 'bearer':
      return setHeader(headers, 'authorization', `Bearer ${await secretText(ctx, auth)}`);
    case 'basic':
      return setHeader(headers, 'authorization', `Basic ${base64(await userAndPassword(ctx, auth))}`);
    case 'header':
      return setHeader(headers, nameOf(auth), await secretText(ctx, auth));
    case 'query':
      url.searchParams.set(nameOf(auth), await secretText(ctx, auth));
  }
}

async function secretText(ctx: ActionContext, { credential, field }: Auth): Promise<string> {
  if (field === undefined) return ctx.credential(credential);
  const fields = await credentialFields(ctx, credential);
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (value !== undefined) return value;
  throw invalid(
    `the credential '${credential}' has no field '${field}'`,
    'Add the field to the secret, which is a JSON object',
  );
}

/** `user:password` as one text, an object with both, or a password with a user name from the parameters. */
async function userAndPassword(ctx: ActionContext, auth: Auth): Promise<string> {
  const { credential, username } = auth;
  if (username !== undefined) return `${username}:${await secretText(ctx, auth)}`;
  const value = await secretText(ctx, auth);
  if (!value.trimStart().startsWith('{')) {
    if (value.includes(':')) return value;
    throw invalid(
      `the credential '${credential}' has no user`,
      'Set auth.username, or set the secret to user:password',
    );
  }
  const { username: user, password } = await credentialFields(ctx, credential);
  if (user !== undefined && password !== undefined) return `${user}:${password}`;
  throw invalid(
    `the credential '${credential}' has no username or no password`,
    'Set the secret to {"username": "…", "password": "…"}',
  );
}

function nameOf({ type, name }: Auth): string {
  if (name !== undefined) return name;
  const example = type === 'header' ? 'x-api-key' : 'api_key';
  throw new ActionError(`auth of type ${type} needs a name`, {
    code: 'INPUT_INVALID',
    hint: `Add it: auth: { type: ${type}, name: ${example}, … }`,
  });
}

/** Catches the error of `Headers`, which contains the value. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw invalid(
      `the credential cannot be sent as the header ${JSON.stringify(name)}`,
      'A header must be one line of text',
    );
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function invalid(message: string, hint: string): ActionError {
  return new ActionError(message, { code: 'CREDENTIAL_INVALID', hint });
}
