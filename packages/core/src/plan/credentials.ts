/** Checks that a node maps a secret to every credential that its action reads. */
import type { Action } from '../action.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import type { NodeReader } from './node-reader.ts';

/** `keys` lead from the node to the action call. */
export function checkCredentials(reader: NodeReader, action: Action, keys: DocumentPath): void {
  const { credentials: wanted } = action;
  if (wanted === undefined) return;
  const { credentials: given = {}, compensate } = reader.parts.definition;
  const named = Object.keys(given);
  const place = reader.parts.definition.credentials === undefined ? [...keys, 'action'] : ['credentials'];
  for (const alias of wanted.filter((one) => !named.includes(one))) {
    const message = `${action.id} needs the credential '${alias}', but the node maps no secret to it`;
    reader.error('MISSING_CREDENTIAL', message, `add credentials: { ${alias}: <name of a secret> }`, place);
  }
  // The compensating action shares the node's credentials and may be the one that reads it.
  if (compensate !== undefined) return;
  for (const alias of named.filter((one) => !wanted.includes(one))) {
    const near = didYouMean(alias, wanted);
    const hint = near === undefined ? 'remove it' : `did you mean '${near}'?`;
    reader.warning(
      'UNUSED_CREDENTIAL',
      `${action.id} never reads the credential '${alias}'`,
      hint,
      ['credentials', alias],
      'key',
    );
  }
}
