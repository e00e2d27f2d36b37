/**
 * Actions that remote workers have announced, by project. They are durable: a workflow that names one is valid while its
 * workers are away. An id that the server has itself cannot be announced.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Action,
  type ActionDescription,
  announcedAction,
  compileSchema,
  NebulaError,
  withFewPatterns,
} from '@nebula/core';
import { DEFAULT_PROJECT, pause, type RecordChange, type RecordRow } from '@nebula/ports';
import { ANNOUNCEMENT_LIMITS } from '../limits.ts';
import type { EngineParts, Parts } from '../parts.ts';

const KIND = 'action';
/** At 256 Ki characters each, a page takes about 5 ms. */
const PAGE = 16;
/** Patterns of a schema that are compiled in one step: about 12 ms. */
const STEP_INSTRUCTIONS = 5_000;
/** More patterns than fit into the cache are compiled in one piece in the end. */
const MAX_STEPS = 4;
/** How often actions that workers announced to other servers on the same store are read. */
const REFRESH_MS = 10_000;

type OfAnnounced = Pick<EngineParts, 'records' | 'engine' | 'clock'>;

/** The actions, for a catalog. */
export async function announcedActions({ records }: Pick<Parts, 'records'>): Promise<Action[]> {
  const actions: Action[] = [];
  for await (const rows of pagesOf(records)) actions.push(...rows.map(actionOf));
  return actions;
}

async function* pagesOf(records: Parts['records']): AsyncGenerator<readonly RecordRow[], void, undefined> {
  for (let after: string | undefined; ; ) {
    const rows = await records.list(KIND, { limit: PAGE, ...(after !== undefined && { after }) });
    yield rows;
    after = rows.at(-1)?.id;
    if (rows.length < PAGE) return;
  }
}

function actionOf({ id, body }: RecordRow): Action {
  return announcedAction(JSON.parse(body) as ActionDescription, projectIn(id));
}

export interface Announcement {
  /** `id@version`. */
  readonly taken: readonly string[];
  readonly refused: readonly { readonly action: string; readonly code: string; readonly message: string }[];
}

interface Known {
  readonly body: string;
  readonly action: Action;
}

export class Announced {
  private readonly parts: OfAnnounced;
  private readonly onTrouble: (error: unknown) => void;
  /** The actions of the last refresh, by the id of their record. */
  private known: ReadonlyMap<string, Known> = new Map();
  private lastRefresh: Promise<void> = Promise.resolve();
  private timer: { cancel(): void } | undefined;
  private isOpen = false;

  constructor(parts: OfAnnounced, onTrouble: (error: unknown) => void) {
    this.parts = parts;
    this.onTrouble = onTrouble;
  }

  async open(): Promise<void> {
    this.isOpen = true;
    await this.refreshLater();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
  }

  /**
   * Announces actions; durable, and known to engine and catalog, when it resolves. An action that the server has in
   * this very version stays its own: the worker may run it for nodes with its labels. Another version of such an action
   * is refused, and the others are accepted: a worker of a neighbouring release has other versions of some built-in
   * actions. Rejects with `ACTION_OWNED` if all are refused.
   */
  async add(descriptions: readonly ActionDescription[], project: string): Promise<Announcement> {
    const { records } = this.parts;
    const refused = descriptions.filter((description) => this.isTaken(description));
    const taken = descriptions.filter((description) => !refused.includes(description));
    const [first] = refused;
    if (first !== undefined && taken.length === 0) throw owned(first);
    const foreign = taken.filter(({ id }) => !this.parts.engine.catalog.owns(id));
    const changes: RecordChange[] = [];
    for (const description of foreign) {
      const id = recordId(project, nameOf(description));
      const body = JSON.stringify(description);
      if (body.length > ANNOUNCEMENT_LIMITS.maxActionChars) throw tooLong(description, body.length);
      await this.check(description);
      if ((await records.get(KIND, id))?.body !== body) changes.push({ kind: KIND, id, body });
    }
    await this.refresh(changes);
    return {
      taken: taken.map(nameOf),
      refused: refused.map((description) => {
        const { code, message } = owned(description);
        return { action: nameOf(description), code, message };
      }),
    };
  }

  /** Removes an action; workflows that name it become invalid. Rejects with `UNKNOWN_ACTION`. */
  async remove(name: string, project: string): Promise<void> {
    const { records } = this.parts;
    const id = recordId(project, name);
    if ((await records.get(KIND, id)) === undefined) {
      throw new NebulaError('UNKNOWN_ACTION', `No worker has announced '${name}' in project '${project}'.`, {
        hint: 'Name it with its version: `name@1`.',
      });
    }
    await this.refresh([{ kind: KIND, id, body: null }]);
  }

  /** The server has other versions of the action. */
  private isTaken({ id, version }: ActionDescription): boolean {
    const { catalog } = this.parts.engine;
    return catalog.owns(id) && !catalog.versionsOf(id).includes(version);
  }

  /** Compiles the schemas, in steps: a large one takes 40 ms, and a worker announces up to 1,000 actions. */
  private async check({ id, input, output }: ActionDescription): Promise<void> {
    for (const [side, schema] of [
      ['input', input],
      ['output', output],
    ] as const) {
      if (schema === undefined) continue;
      await pause(this.parts.clock, 'request');
      try {
        for (let step = 0; step < MAX_STEPS; step++) {
          if (withFewPatterns(STEP_INSTRUCTIONS, () => compileSchema(schema)) !== undefined) break;
          await pause(this.parts.clock, 'request');
        }
        compileSchema(schema);
      } catch (error) {
        throw new NebulaError(
          'ACTION_SCHEMA_INVALID',
          `The ${side} schema of ${id} cannot be used: ${messageOf(error)}`,
          {
            hint: 'Schemas are JSON Schema 2020-12.',
          },
        );
      }
    }
  }

  /** Commits changes and reads all actions. One refresh at a time: an older one never replaces the actions of a newer one. */
  async refresh(changes: readonly RecordChange[] = []): Promise<void> {
    const refresh = this.lastRefresh.then(async () => {
      if (changes.length > 0) {
        this.checkCount(changes);
        await this.parts.records.commit(changes);
      }
      await this.readAll();
    });
    this.lastRefresh = refresh.catch(() => undefined);
    await refresh;
  }

  private checkCount(changes: readonly RecordChange[]): void {
    const { maxActions } = ANNOUNCEMENT_LIMITS;
    const added = changes.filter(({ id, body }) => body !== null && !this.known.has(id));
    for (const [project, { length }] of Map.groupBy(added, ({ id }) => projectIn(id))) {
      const before = Array.from(this.known.keys()).filter((id) => projectIn(id) === project);
      const count = length + before.length;
      if (count <= maxActions) continue;
      throw new NebulaError('TOO_LARGE', `Project '${project}' would have ${count} announced actions.`, {
        hint: `At most ${maxActions} are kept, in all their versions: remove those that are no longer used.`,
      });
    }
  }

  /** Reads every row, but parses and announces only if one has changed. */
  private async readAll(): Promise<void> {
    const found = new Map<string, Known>();
    let isChanged = false;
    for await (const rows of pagesOf(this.parts.records)) {
      for (const row of rows) {
        const before = this.known.get(row.id);
        const isSame = before?.body === row.body;
        found.set(row.id, isSame ? before : { body: row.body, action: actionOf(row) });
        isChanged ||= !isSame;
      }
      await setImmediate();
    }
    if (!isChanged && found.size === this.known.size) return;
    this.known = found;
    const actions = Array.from(found.values(), ({ action }) => action);
    this.parts.engine.announce(actions);
  }

  private async refreshLater(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.onTrouble(error);
    }
    if (this.isOpen)
      this.timer = this.parts.clock.timer(REFRESH_MS, () => void this.refreshLater(), { background: true });
  }
}

function owned({ id, version }: ActionDescription): NebulaError {
  return new NebulaError('ACTION_OWNED', `The server has its own '${id}': no worker can announce it as ${version}.`, {
    hint: 'Give the action another id, add it to the configuration of the server, or run the worker in the release of the server.',
  });
}

export function nameOf({ id, version }: Pick<Action, 'id' | 'version'>): string {
  return `${id}@${version}`;
}

/** Action names have no slash. A key without a project, from before projects existed, belongs to the default one. */
function recordId(project: string, name: string): string {
  return project === DEFAULT_PROJECT ? name : `${project}/${name}`;
}

function projectIn(id: string): string {
  const slash = id.indexOf('/');
  return slash === -1 ? DEFAULT_PROJECT : id.slice(0, slash);
}

function tooLong(description: ActionDescription, chars: number): NebulaError {
  return new NebulaError(
    'TOO_LARGE',
    `Action ${nameOf(description)} has ${chars} characters as JSON; an announced one has at most ${ANNOUNCEMENT_LIMITS.maxActionChars}.`,
    { hint: 'Shorten its schemas.' },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
