import path from 'node:path';
import { NebulaError } from '@nebula/core';
import type { NebulaConfig } from '@nebula/sdk';
import { definedMembers, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { workflowPatterns } from '../project.ts';
import { watchCode } from '../serve/code-watch.ts';
import { watchConfig } from '../serve/config-watch.ts';
import { isDetached, reportListening, serveDetached } from '../serve/detach.ts';
import { jsonReport, type ServeReport, terminalReport } from '../serve/report.ts';
import { signInAddress } from '../serve/sign-in-address.ts';
import { type FileNews, foldersOf, WorkflowFiles } from '../serve/workflow-files.ts';
import type { Command, CommandOptions, Project, ProjectCall, ServerSession } from '../services.ts';
import { concealed } from '../terminal/concealed.ts';
import { captureForeignOutput } from '../terminal/foreign-output.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { outliveReaders } from '../terminal/io.ts';
import { WatchedFolders } from '../watched-folder.ts';

export const execute: Command = async (asked) => {
  const project = await asked.services.openProject(definedMembers({ dataDir: textOption(asked.options, 'dataDir') }));
  const call = { ...asked, project };
  if (asked.options.detach === true) return await serveDetached(call, project);
  const report = reportOf(call);
  const interrupt = listenForInterrupt();
  try {
    await serveUntil(call, report, interrupt.happened);
  } finally {
    interrupt.release();
  }
  report.stopped();
  return EXIT.completed;
};

async function serveUntil(call: ProjectCall, report: ServeReport, interrupted: Promise<unknown>): Promise<void> {
  let onAnnounced = (): void => undefined;
  let onSignedIn = (): void => undefined;
  const session = await call.services.openServer(call.project, {
    ...definedMembers(askedFor(call.options)),
    buildsStudio: isForPeople(call) || isDetached(call.io.env),
    onLog: (line) => report.logged(line),
    onRequest(operation, status, milliseconds) {
      report.request(operation, status, milliseconds);
      if (operation === 'registerWorker') onAnnounced();
      if (operation === 'signIn' && status === 200) onSignedIn();
    },
  });
  const releaseOutput = captureForeignOutput((line) => report.foreign(concealed(line)));
  const stopOutliving = outliveReaders();
  try {
    const serving = await serve(call, session, report);
    reportListening(session, call.io.env);
    ({ onAnnounced, onSignedIn } = serving);
    // A worker may have announced itself during the first registration.
    onAnnounced();
    await interrupted;
    report.stopping();
    serving.stop();
  } finally {
    await session.close();
    releaseOutput();
    stopOutliving();
  }
}

/** The output is read by people, not by programs. */
function isForPeople({ io, options }: ProjectCall): boolean {
  return options.json !== true && io.out.live;
}

function reportOf(call: ProjectCall): ServeReport {
  const { io, program, project } = call;
  const level = project.config.server?.logLevel ?? 'info';
  if (!isForPeople(call)) return jsonReport(io.out, io.now, level);
  const shown = (file: string): string => {
    const relative = path.relative(io.cwd, file);
    return relative.startsWith('..') ? file : relative || '.';
  };
  return terminalReport(io.out, { program, level, now: io.now, shown });
}

function askedFor(options: CommandOptions) {
  const port = portOf(textOption(options, 'port'));
  return { preset: textOption(options, 'preset'), host: textOption(options, 'host'), port };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new NebulaError('USAGE', `--port ${text}: not a port`, {
    hint: 'a whole number up to 65535; 0 picks a free port',
  });
}

interface Serving {
  /** A worker announced actions, which workflow files may name. */
  onAnnounced(): void;
  /** A browser has used the code that was printed last. */
  onSignedIn(): void;
  stop(): void;
}

/** Reports the server's address and workflows, then what happens. */
async function serve(call: ProjectCall, session: ServerSession, report: ServeReport): Promise<Serving> {
  const { io, project } = call;
  // The engine knows the actions that workers have announced so far, and need not compile a checked file again.
  const knowing = { ...call, services: { ...call.services, checks: async () => session.engine.checks } };
  const files = new WorkflowFiles(knowing, project, session, io.out.colors);
  session.setWorkflowFiles(files);
  let patterns = workflowPatterns(project.config);
  const registerNow = async (): Promise<readonly FileNews[]> => {
    const news = await files.registerChanged(patterns);
    session.reserved.setFiles(files.paths);
    return news;
  };
  const registerChanged = (): void => {
    registerNow().then(
      (all) => {
        for (const one of all) report.file(one);
      },
      (error: unknown) => report.trouble(error),
    );
  };
  const folders = new WatchedFolders(registerChanged);
  for (const folder of foldersOf(project.dir, patterns)) await folders.add(folder);
  const stopConfig = watchedConfig(project, report, (config) => {
    patterns = workflowPatterns(config);
    session.reserved.setPatterns(patterns);
    void Promise.all(foldersOf(project.dir, patterns).map((folder) => folders.add(folder))).then(registerChanged);
  });
  const stopCode = watchCode(project.configFile, (changed) => {
    const names = changed.map((file) => path.relative(project.dir, file)).join(', ');
    const verb = changed.length === 1 ? 'has' : 'have';
    report.config(`${names} ${verb} changed; the server runs the old code until it is restarted`, 'warn');
  });
  const news = await registerNow();
  report.started({
    url: session.url,
    version: (await session.api.call('getInfo')).version,
    preset: session.preset,
    tokenFile: session.tokenFile,
    studio: await studioAddress(call, session),
    dataDir: project.dataDir,
    news,
    isOpen: session.isOpen,
    hasUsers: session.preset === 'desktop' || (await hasUsers(session)),
  });
  const stopEvents = session.engine.on((event) => {
    if (event.type === 'finished') report.finished(event.document);
  });
  return {
    onAnnounced() {
      if (files.hasBroken) registerChanged();
    },
    onSignedIn() {
      studioAddress(call, session).then(
        (address) => address !== undefined && report.signedIn(address),
        (error: unknown) => report.trouble(error),
      );
    },
    stop() {
      stopConfig();
      stopCode();
      folders.close();
      stopEvents();
    },
  };
}

/** With a code that signs in one browser, for people. A log that programs read gets no code: it may be sent elsewhere. */
async function studioAddress(
  call: ProjectCall,
  { studio, tokenFile, api }: ServerSession,
): Promise<string | undefined> {
  if (studio === undefined || tokenFile === undefined || !isForPeople(call)) return studio;
  return signInAddress(studio, (await api.call('createSignInCode')).code);
}

async function hasUsers({ api }: ServerSession): Promise<boolean> {
  return (await api.call('listUsers', { query: { limit: 1 } })).items.length > 0;
}

function watchedConfig(
  { dir, config: first }: Project,
  report: ServeReport,
  onWorkflows: (config: NebulaConfig) => void,
): () => void {
  let level = first.server?.logLevel ?? 'info';
  return watchConfig(dir, first, {
    onChange({ file, config, waiting }) {
      const name = file === undefined ? 'the configuration' : path.basename(file);
      report.level = config.server?.logLevel ?? 'info';
      if (report.level !== level) report.config(`${name}: the log level is ${report.level}`, 'info');
      ({ level } = report);
      if (waiting.length > 0) report.config(`${name}: restart the server to apply ${waiting.join(', ')}`, 'warn');
      else if (file === undefined) report.config(`${name} was removed; its settings no longer apply`, 'info');
      else report.config(`${name} was reloaded; restart the server to apply changes of code`, 'info');
      onWorkflows(config);
    },
    onBroken(error) {
      report.trouble(error);
      report.config('the configuration is invalid; the server keeps the previous one', 'warn');
    },
  });
}
