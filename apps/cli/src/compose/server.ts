/** A whole server on the drivers of a preset: engine, records, secrets, leader, API. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { NebulaClient } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import { localLeader } from '@nebula/drivers/memory';
import { openTelemetry, wantsTraces } from '@nebula/drivers/opentelemetry';
import { loadHostApi } from '@nebula/drivers/sandbox-inprocess';
import { createEngine } from '@nebula/engine';
import { loopbackConflict, type ServerConfig } from '@nebula/sdk';
import {
  announcedActions,
  callbackKey,
  callbackUrls,
  type EngineParts,
  launchPlans,
  type NebulaServer,
  type WorkflowFiles as SavedFiles,
  startServer,
} from '@nebula/server';
import { definedMembers } from '../command-options.ts';
import { ownVersion } from '../own-version.ts';
import { isConfigName } from '../project.ts';
import { holdingServer, leaveNote, makeToken, tokenFile } from '../remote/found-server.ts';
import type { Project, ServeOptions, ServerSession } from '../services.ts';
import { concealed } from '../terminal/concealed.ts';
import type { Io } from '../terminal/io.ts';
import { shellWord } from '../views/words.ts';
import { engineOptions, sizeOf } from './engine-options.ts';
import { ReservedFiles } from './reserved-files.ts';
import {
  driverContext,
  lazyOutgoing,
  openBackups,
  openRuntime,
  openSecrets,
  openStorage,
  type Storage,
} from './storage.ts';
import { openStudio, type Studio } from './studio.ts';

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 7777;
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]', '::1'];
/** Higher than the default, since many users share the server. */
const SELFHOST_CONCURRENCY = 64;
/** How long an attempt may take to end by itself when the server stops. */
const HAND_BACK_MS = 5_000;

type Preset = ServerSession['preset'];

/** Throws `PRESET_NOT_BUILT` if a preset, or an option beside it, has no drivers yet. */
export function presetOf({ preset = 'desktop', database = 'sqlite', queue = 'memory' }: ServerConfig): Preset {
  const missing = [
    ...(preset === 'cloud' ? ['the preset cloud needs postgres, a message broker and object storage'] : []),
    ...(database === 'sqlite' ? [] : [`the database ${schemeOf(database)} has no driver`]),
    ...(queue === 'memory' ? [] : [`the queue ${schemeOf(queue)} has no driver`]),
  ];
  if (missing.length === 0 && preset !== 'cloud') return preset;
  throw new NebulaError('PRESET_NOT_BUILT', `not available yet: ${missing.join('; ')}`, {
    hint: 'use desktop or selfhost, which run on sqlite and a queue in memory; workflows mean the same on every preset',
  });
}

/** A URL may contain a password. */
function schemeOf(text: string): string {
  return text.split(':')[0]?.slice(0, 40) ?? '';
}

export async function openServer(project: Project, options: ServeOptions, env: Io['env']): Promise<ServerSession> {
  const config = {
    ...project.config.server,
    ...definedMembers({ preset: options.preset, host: options.host, port: options.port }),
  } as ServerConfig;
  checkWithOptions(config);
  const preset = presetOf(config);
  let publicUrl = '';
  const reserved = new ReservedFiles(project, env);
  let workflowFiles: SavedFiles | undefined;
  const opened = await openParts(project, env, {
    publicUrl: () => publicUrl,
    reserved,
    preset,
    workflowFiles: () => workflowFiles,
    ...(preset === 'selfhost' && { concurrency: SELFHOST_CONCURRENCY }),
  }).catch((error: unknown) => {
    throw alreadyServed(project, error);
  });
  const { parts } = opened;
  const openEngine = (url: string): Promise<void> => {
    publicUrl = (config.url ?? reachable(url)).replace(/\/+$/, '');
    return parts.engine.open();
  };
  const studio = openStudio(env, ({ message }) => options.onLog(studioLine(message)));
  try {
    const token = preset === 'desktop' ? makeToken(project.dataDir) : undefined;
    const own = { preset, token, env, reserved, openEngine, studio };
    const server = await listening(project, parts, config, { ...options, ...own });
    if (options.buildsStudio) void studio?.state();
    const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();
    const note = { url: reachable(server.url), pid: process.pid, startedAt, options: givenOptions(options) };
    const takeNoteBack = leaveNote(project.dataDir, note);
    return {
      url: reachable(server.url),
      preset,
      isOpen: !LOOPBACK_NAMES.includes(config.host ?? DEFAULT_HOST),
      tokenFile: token === undefined ? undefined : tokenFile(project.dataDir),
      studio: studio === undefined ? undefined : `${reachable(server.url)}/`,
      engine: parts.engine,
      api: new NebulaClient(server.direct),
      reserved,
      origins: server.origins,
      setWorkflowFiles(files) {
        // Elsewhere a server is not the program of the one person who owns the files.
        if (preset === 'desktop') workflowFiles = files;
      },
      async close() {
        takeNoteBack();
        studio?.close();
        await server.close(opened.stopEngine);
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** In the format of the server's log. */
function studioLine(error: string): string {
  return JSON.stringify({ level: 'error', time: new Date().toISOString(), msg: 'there is no Studio', error });
}

/** Options of the command replace keys of the configuration, which was checked without them. */
function checkWithOptions(config: ServerConfig): void {
  const mistake = loopbackConflict(config);
  if (mistake !== undefined) throw new NebulaError('CONFIG_INVALID', mistake.message, { hint: mistake.hint });
}

interface OpenedParts {
  readonly parts: EngineParts;
  /** Hands back running attempts. */
  stopEngine(): Promise<void>;
  close(): Promise<void>;
}

interface OfServer {
  /** The base of callback URLs. */
  publicUrl(): string;
  readonly reserved: ReservedFiles;
  /** Used if the configuration sets none. */
  readonly concurrency?: number;
  /** The preset that the server was started with; by default that of the configuration. */
  readonly preset?: string;
  workflowFiles(): SavedFiles | undefined;
}

async function openParts(project: Project, env: Io['env'], ofServer: OfServer): Promise<OpenedParts> {
  const context = await driverContext(project);
  const opened = await openStorage(project, context, true);
  try {
    return await partsOn(project, opened, env, ofServer);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function partsOn(
  project: Project,
  opened: Storage,
  env: Io['env'],
  { publicUrl, reserved, preset, workflowFiles, ...defaults }: OfServer,
): Promise<OpenedParts> {
  const context = await driverContext(project);
  const { store, blobs, logs } = opened;
  await loadHostApi();
  const runtime = await openRuntime(project, context, env, reserved);
  const secrets = await openSecrets(project, context, env);
  const records = await opened.records();
  const projects = await opened.projects(preset);
  const engine = createEngine(
    { ...context, store, blobs, logs, ...runtime },
    {
      ...defaults,
      ...(await engineOptions(project)),
      announced: await announcedActions({ records }),
      projects,
      launchPlan: launchPlans({ records, store }),
      callbacks: callbackUrls(await callbackKey(records), publicUrl),
    },
  );
  const { clock, random, digest } = context;
  const stopEngine = () => engine.close({ graceMs: HAND_BACK_MS });
  const backups = openBackups(project, context);
  const common = {
    store,
    records,
    secrets,
    blobs,
    logs,
    clock,
    random,
    digest,
    projects,
    backups,
    workflowFiles,
    outgoing: lazyOutgoing,
    configured: { list: project.config.notifications ?? [], folder: project.dir },
    ...definedMembers({ publicUrl: project.config.server?.url }),
  };
  return {
    parts: { ...common, executions: engine, engine },
    stopEngine,
    async close() {
      await stopEngine();
      await runtime.queue.close();
      await opened.close();
    },
  };
}

interface Listening extends ServeOptions {
  readonly preset: string;
  readonly token: string | undefined;
  readonly env: Io['env'];
  readonly reserved: ReservedFiles;
  readonly studio: Studio | undefined;
  openEngine(url: string): Promise<void>;
}

async function listening(
  project: Project,
  parts: EngineParts,
  config: ServerConfig,
  options: Listening,
): Promise<NebulaServer> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, url, origins = [], trustProxy = [], metrics } = config;
  const { workflowGraph: tokenless } = config;
  const bodyLimitBytes = sizeOf('server.bodyLimit', config.bodyLimit);
  const { token, preset, env, onLog, onRequest, openEngine, studio } = options;
  try {
    return await startServer(parts, {
      host,
      port,
      preset,
      version: await ownVersion(),
      projectDir: project.dir,
      reserved: untold(project, options.reserved),
      leader: localLeader(),
      onRequest,
      openEngine,
      studio,
      log: { conceal: concealed, stream: { write: onLog } },
      ...definedMembers({ metrics, metricsToken: env.NEBULA_METRICS_TOKEN || undefined, tokenless, token }),
      ...(wantsTraces(env) && { openTraces: openTelemetry }),
      isSecure: url?.startsWith('https:') ?? false,
      app: {
        hosts: hostNames(host, config),
        origins: [...origins],
        trustProxy: [...trustProxy],
        ...definedMembers({ bodyLimitBytes }),
      },
    });
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port);
  }
}

/** Files of which triggers tell nobody: those that no grant reaches. */
function untold(project: Project, reserved: ReservedFiles): (file: string) => string | undefined {
  const folders = [project.dataDir, realpathSync(project.dataDir)];
  const isData = (file: string): boolean =>
    folders.some((folder) => !/^\.\.(?:[/\\]|$)/.test(path.relative(folder, file)));
  return (file) => {
    if (isData(file)) return 'it is in the data folder';
    return isConfigName(path.basename(file)) ? 'it is the configuration' : reserved.why(file, 'read');
  };
}

/** Restricts host names on loopback, where a foreign page could otherwise call the server for the user who views it. */
function hostNames(host: string, { hosts = [], url }: ServerConfig): readonly string[] | null {
  const isLoopback = LOOPBACK_NAMES.includes(host);
  if (!isLoopback && hosts.length === 0) return null;
  return [...LOOPBACK_NAMES, ...hosts, ...(url === undefined ? [] : [new URL(url).hostname])];
}

/** Replaces an address that means all interfaces, which no client can call. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new NebulaError('PORT_TAKEN', `${host}:${port} is already in use`, {
        hint: `use --port ${port + 1}, or --port 0 for any free port; \`nebula doctor\` shows whether a Nebula server uses it`,
      });
    case 'EACCES':
      return new NebulaError('CANNOT_LISTEN', `this user may not listen on port ${port}`, {
        hint: 'use a port above 1023',
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new NebulaError('CANNOT_LISTEN', `${host} is not an address of this machine`, {
        hint: 'use 127.0.0.1 for this machine only, 0.0.0.0 for all machines that can reach it',
      });
    default:
      return /^invalid (IP address|range)/.test(error.message) ? noProxy(error) : error;
  }
}

function noProxy({ message }: Error): NebulaError {
  return new NebulaError('CONFIG_INVALID', `server.trustProxy in the configuration: ${message}`, {
    hint: "Give addresses or ranges, e.g. ['10.0.0.0/8', 'loopback']",
  });
}

function alreadyServed({ dataDir }: Project, error: unknown): unknown {
  const found = holdingServer(dataDir, error);
  if (found === undefined) return error;
  return new NebulaError(
    'STORE_LOCKED',
    `a server is already running on ${dataDir}: ${found.url}, process ${found.pid}`,
    {
      hint: `use it (commands in this folder find it), stop it with \`nebula stop\`, or choose another folder with --data-dir`,
      details: { url: found.url, pid: found.pid },
    },
  );
}

/** The options that were given, as a command line has them. */
function givenOptions(options: ServeOptions): string {
  return (['port', 'host', 'preset'] as const)
    .flatMap((name) => (options[name] === undefined ? [] : [`--${name} ${shellWord(String(options[name]))}`]))
    .join(' ');
}
