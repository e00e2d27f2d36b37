/** What the server is made of. It holds no state of its own: whatever lasts is behind these. */
import type { OpenCatalog } from '@nebula/core';
import type { Engine, Projects } from '@nebula/engine';
import type { Blobs, Clock, Digest, Logs, Random, Records, Secrets, Store } from '@nebula/ports';

export interface Parts {
  readonly engine: Engine;
  readonly store: Store;
  readonly records: Records;
  readonly secrets: Secrets;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly catalog: OpenCatalog;
  readonly projects: Projects;
}
