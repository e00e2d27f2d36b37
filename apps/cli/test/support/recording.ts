/** Notes the operations of the contract that commands call, in process and over HTTP. */
import { NebulaClient, type Transport } from '@nebula/client';
import { composeServices } from '../../src/compose/services.ts';
import { runCommandLine } from '../../src/main.ts';
import type { ApiSession, Services } from '../../src/services.ts';
import { memoryIo } from './screen-text.ts';
import type { Said, SayOptions } from './served.ts';

type Note = (operation: string) => void;

/**
 * One command line in this process, with the real services. The server notes the calls of commands that have no
 * session (`worker`, `context add`). A `note` that throws breaks the command off.
 */
export async function sayNoted(cwd: string, argv: readonly string[], note: Note, options: SayOptions): Promise<Said> {
  const { stdin = '', env = {} } = options;
  const io = memoryIo({ cwd, stdin, env, now: () => Date.now() });
  const services = noted(composeServices(io), note);
  const code = await runCommandLine({ io, services, program: 'nebula' }, argv);
  return { code, out: io.out.text(), err: io.err.text() };
}

function noted(services: Services, note: Note): Services {
  return {
    ...services,
    openApi: async (...asked) => notedSession(await services.openApi(...asked), note),
    async openServer(...asked) {
      const session = await services.openServer(...asked);
      return { ...session, api: notedClient(session.api, note) };
    },
  };
}

function notedSession(session: ApiSession, note: Note): ApiSession {
  return {
    ...session,
    api: notedClient(session.api, note),
    as: async (...user) => notedSession(await session.as(...user), note),
  };
}

function notedClient(client: NebulaClient, note: Note): NebulaClient {
  const { transport } = client as unknown as { readonly transport: Transport };
  return new NebulaClient({
    url: transport.url,
    json(operation, ...rest) {
      note(operation);
      return transport.json(operation, ...rest);
    },
    bytes(operation, ...rest) {
      note(operation);
      return transport.bytes(operation, ...rest);
    },
    download(operation, ...rest) {
      note(operation);
      return transport.download(operation, ...rest);
    },
    follow(operation, ...rest) {
      note(operation);
      return transport.follow(operation, ...rest);
    },
  });
}
