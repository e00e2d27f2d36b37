/**
 * The worker of an attempt, for people. The journal names a remote worker by its lease: `lse_<hash>:<worker>`. Journals of
 * before have the id of the lease itself there, which authorised whoever had it: that is not shown.
 */
export function workerName(worker: string): string {
  if (!worker.startsWith('lse_')) return worker;
  const colon = worker.indexOf(':');
  return colon === -1 || colon === worker.length - 1 ? 'a remote worker' : worker.slice(colon + 1);
}
