/**
 * Workflows that nobody should get far with. Each names its threat, the project whose editor registers it, and the codes
 * with which its run fails. A definition may be refused when it is registered instead, with one of the same codes.
 *
 * `alpha` has a ceiling that allows every kind of capability by its widest pattern, `wide` has the ceiling `all`, `bare`
 * has none, and `beta` owns the workflow `beta-private`, the launch plan `beta-plan` and the secret `press`.
 */

export type HostileProject = 'alpha' | 'wide' | 'bare';

export interface HostileRun {
  readonly threat: string;
  readonly name: string;
  readonly project: HostileProject;
  readonly config?: object;
  readonly nodes: Readonly<Record<string, object>>;
  readonly codes: readonly string[];
}

export interface RunSetting {
  /** A program that runs leaves this file. */
  readonly marker: string;
  /** The port of a listener on 127.0.0.1. */
  readonly port: number;
  /** Holds the data folder `.nebula`, `nebula.config.ts` and the watched folder `workflows`. */
  readonly projectDir: string;
}

const DENIED = ['CAPABILITY_DENIED'];
const EVERYTHING = { shell: ['*'], files: { read: ['*', '/**'], write: ['*', '/**'] }, network: ['*'], env: ['*'] };

export function hostileRuns(setting: RunSetting): readonly HostileRun[] {
  return [
    ...returnedGrants(setting),
    ...returnedWorkflows(),
    ...ownGrants(setting),
    ...foreignSecrets(),
    ...machineFiles(),
    ...reservedFiles(setting),
    ...privateAddresses(setting),
  ];
}

const touch = ({ marker }: RunSetting) => ({ action: 'shell.run', with: { program: 'touch', args: [marker] } });
const returns = (graph: object, more: object = {}) => ({
  dynamic: { action: 'test.graph', with: { graph } },
  ...more,
});

function returnedGrants(setting: RunSetting): HostileRun[] {
  const sh = { ...touch(setting), capabilities: { shell: ['*'] } };
  const inLoop = { forEach: { in: [1] }, do: { nodes: { sh } } };
  const undone = { action: 'core.noop', capabilities: { shell: ['*'] }, compensate: touch(setting) };
  const graphs: Record<string, object> = {
    'a node with a grant': { nodes: { sh } },
    'a node with every grant': { nodes: { sh: { ...sh, capabilities: EVERYTHING } } },
    'an iteration of a loop': { nodes: { loop: inLoop } },
    'a group': { nodes: { box: { group: { nodes: { sh } } } } },
    'a graph that returns a graph': { nodes: { again: returns({ nodes: { sh } }) } },
    'a compensation': {
      nodes: { undone, fails: { needs: ['undone'], action: 'core.fail', with: { code: 'ON_PURPOSE' } } },
    },
    'a graph with a configuration': { config: { capabilities: EVERYTHING }, nodes: { sh } },
  };
  return Object.entries(graphs).flatMap(([name, graph]) =>
    (['alpha', 'wide'] as const).map((project) => ({
      threat: 'returned-grants',
      name: `${name} asks for a shell in ${project}`,
      project,
      nodes: { plan: returns(graph) },
      codes: [...DENIED, 'BAD_GRAPH', 'ON_PURPOSE'],
    })),
  );
}

function returnedWorkflows(): HostileRun[] {
  const calls: Record<string, object> = {
    'a child': { workflow: { id: 'beta-private', mode: 'child' } },
    'a workflow inside': { workflow: { id: 'beta-private', mode: 'inline' } },
    'a child of a version': { workflow: { id: 'beta-private', version: 1, mode: 'child' } },
    'a launch plan': { workflow: { plan: 'beta-plan' } },
    'a child per iteration': {
      forEach: { in: [1] },
      do: { nodes: { call: { workflow: { id: 'beta-private', mode: 'child' } } } },
    },
  };
  const codes = ['UNKNOWN_WORKFLOW', 'UNKNOWN_PLAN', 'BAD_GRAPH', 'DEFINITION_INVALID'];
  return Object.entries(calls).flatMap(([name, call]) => [
    {
      threat: 'returned-workflows',
      name: `a returned graph names the workflow of another project: ${name}`,
      project: 'alpha' as const,
      nodes: { plan: returns({ nodes: { call } }) },
      codes,
    },
    {
      threat: 'returned-workflows',
      name: `a definition names the workflow of another project: ${name}`,
      project: 'alpha' as const,
      nodes: { call },
      codes,
    },
  ]);
}

function ownGrants(setting: RunSetting): HostileRun[] {
  const own = (name: string, node: object, config: object = {}): HostileRun => ({
    threat: 'own-grants',
    name,
    project: 'bare',
    config,
    nodes: { it: node },
    codes: DENIED,
  });
  const read = { action: 'file.read', with: { path: '/etc/hostname' } };
  return [
    own('an editor grants a shell', touch(setting), { capabilities: { shell: ['*'] } }),
    own('an editor grants one program', touch(setting), { capabilities: { shell: ['touch'] } }),
    own('an editor grants everything', touch(setting), { capabilities: EVERYTHING }),
    own('a node grants a shell', { ...touch(setting), capabilities: { shell: ['*'] } }),
    own('an editor grants the whole disk', read, { capabilities: { files: { read: ['/**'] } } }),
    own(
      'an editor grants a write',
      { action: 'file.write', with: { path: setting.marker, content: 'x' } },
      {
        capabilities: { files: { write: ['/**', '*'] } },
      },
    ),
    own('an editor grants the network', http(setting, '127.0.0.1'), { capabilities: { network: ['127.0.0.1'] } }),
    own('a loop grants a shell', {
      forEach: { in: [1] },
      do: { nodes: { sh: { ...touch(setting), capabilities: { shell: ['*'] } } } },
    }),
  ];
}

function foreignSecrets(): HostileRun[] {
  const names = ['press', 'beta/press', '../beta/press', 'beta%2Fpress', 'beta.press', 'beta:press', 'beta press'];
  const codes = ['SECRET_NOT_FOUND', 'DEFINITION_INVALID', 'BAD_GRAPH'];
  return names.flatMap((name) => {
    const tell = { action: 'test.tell', credentials: { key: name } };
    return [
      { threat: 'foreign-secrets', name: `a node names ${name}`, project: 'alpha' as const, nodes: { tell }, codes },
      {
        threat: 'foreign-secrets',
        name: `a returned graph names ${name}`,
        project: 'wide' as const,
        nodes: { plan: returns({ nodes: { tell } }) },
        codes,
      },
    ];
  });
}

function machineFiles(): HostileRun[] {
  const paths = [
    '/proc/self/environ',
    '/proc/1/environ',
    '/proc/self/mem',
    '/proc/self/fd/0',
    '/proc/self/root/etc/hostname',
    '/proc/thread-self/environ',
    '/./proc//self/environ',
    '/etc/../proc/self/environ',
    '/dev/zero',
    '/dev/stdin',
    '/dev/fd/0',
    '/sys/kernel/hostname',
  ];
  return paths.flatMap((path) =>
    (['alpha', 'wide'] as const).map((project) => ({
      threat: 'machine-files',
      name: `read ${path} in ${project}`,
      project,
      config: { capabilities: EVERYTHING },
      nodes: { read: { action: 'file.read', with: { path } } },
      codes: DENIED,
    })),
  );
}

function reservedFiles({ projectDir }: RunSetting): HostileRun[] {
  const paths = [
    'workflows/planted.yaml',
    'workflows/deep/planted.json',
    './workflows/../workflows/planted.yaml',
    `${projectDir}/workflows/planted.yaml`,
    'nebula.config.ts',
    `${projectDir}/nebula.config.ts`,
    '.nebula/token',
    '.nebula/nebula.db',
    '.nebula/secrets.key',
    `${projectDir}/.nebula/token`,
    'elsewhere/planted.yaml',
  ];
  return paths.map((path) => ({
    threat: 'reserved-files',
    name: `write ${path.replace(projectDir, '<project>')}`,
    project: 'wide',
    config: { capabilities: EVERYTHING },
    nodes: { write: { action: 'file.write', with: { path, content: 'id: planted' } } },
    codes: DENIED,
  }));
}

const http = ({ port }: RunSetting, host: string) => ({
  action: 'http.request',
  with: { url: `http://${host}:${port}/` },
  timeout: '5s',
});

function privateAddresses(setting: RunSetting): HostileRun[] {
  const hosts = [
    '127.0.0.1',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '[fe80::1]',
    '[fd00::1]',
  ];
  return hosts.flatMap((host) =>
    (['alpha', 'wide'] as const).map((project) => ({
      threat: 'private-addresses',
      name: `network * reaches ${host} in ${project}`,
      project,
      config: { capabilities: { network: ['*'] } },
      nodes: { get: http(setting, host) },
      codes: DENIED,
    })),
  );
}
