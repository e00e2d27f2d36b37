/** Resolves the actions and retry policies that a definition names. */
import type { Action } from '../action.ts';
import { RETRY_POLICIES } from '../definition/attempt-keys.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import type { CompileContext } from './context.ts';
import type { RetryRule } from './plan.ts';

type Known = Pick<CompileContext, 'catalog' | 'problems'>;

/**
 * Returns undefined, after reporting it, when there is no such action. In a draft with other errors the reference may
 * be missing.
 */
export function findAction(
  { catalog, problems }: Known,
  reference: string | undefined,
  path: DocumentPath,
): Action | undefined {
  if (reference === undefined) return undefined;
  const action = catalog.action(reference);
  if (action !== undefined) return action;
  const [name = ''] = reference.split('@');
  const versions = catalog.versionsOf(name);
  if (versions.length > 0) {
    const message = `no version of '${name}' matches '${reference}'`;
    problems.error({
      code: 'UNKNOWN_ACTION_VERSION',
      message,
      hint: `available versions: ${versions.join(', ')}`,
      path,
    });
    return undefined;
  }
  const near = didYouMean(name, catalog.actionIds());
  const hint =
    near === undefined
      ? '`nebula actions` lists the available actions; register your own in nebula.config.ts'
      : `did you mean '${near}'?`;
  problems.error({ code: 'UNKNOWN_ACTION', message: `there is no action '${name}'`, hint, path });
  return undefined;
}

export function isBuiltIn(policy: string): policy is Extract<RetryRule['policy'], string> {
  return RETRY_POLICIES.some((known) => known === policy);
}

export function checkPolicy({ catalog, problems }: Known, policy: string | undefined, path: DocumentPath): void {
  if (policy === undefined || isBuiltIn(policy) || catalog.retryPolicy(policy) !== undefined) return;
  const known = ['fixed', 'exponential', 'exponential-jitter', ...catalog.retryPolicyNames()];
  const near = didYouMean(policy, known);
  const hint = near === undefined ? `available policies: ${known.join(', ')}` : `did you mean '${near}'?`;
  problems.error({
    code: 'UNKNOWN_RETRY_POLICY',
    message: `there is no retry policy '${policy}'`,
    hint,
    path,
    // The policy of the workflow was not checked once; an unknown one counts as exponential.
    isTightened: path[0] === 'config',
  });
}
