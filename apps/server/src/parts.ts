/** What the server is made of. It holds no state of its own: whatever lasts is behind these. */
import type { OpenCatalog } from '@nebula/core';
import type { Engine, ExecutionService, Projects } from '@nebula/engine';
import type { Blobs, Clock, Digest, Logs, Random, Records, Secrets, Store } from '@nebula/ports';

/** Enough to look at runs, to leave requests and to change records, also beside an engine of another process. */
export interface Parts {
  readonly executions: ExecutionService;
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

/** With an engine of this process, which runs things. */
export interface EngineParts extends Parts {
  readonly engine: Engine;
}
