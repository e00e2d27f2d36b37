import { Type } from 'typebox';
import { CONTRACT_LIMITS } from '../limits.ts';
import { AnyJson, closed, Id, Moment, NodePath, Version } from './pieces.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A definition as JSON, or its text in YAML or JSON. */
export const DefinitionBody = Type.Object(
  {
    definition: Type.Optional(AnyJson),
    source: Type.Optional(
      Type.String({
        maxLength: CONTRACT_LIMITS.maxSourceChars,
        description: 'YAML or JSON text, instead of `definition`, or with it: then the text must contain it.',
      }),
    ),
    filename: Type.Optional(
      Type.String({ maxLength: 500, description: 'The name of the source in messages; its ending is the format.' }),
    ),
    project: Type.Optional(Id),
  },
  closed,
);

const DefinitionProblem = Type.Object({
  severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  path: Type.Array(Type.Union([Type.String(), Type.Number()])),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});

/** What starts a workflow, in a few words. */
const TriggerSummary = Type.Object({
  kind: Type.Union([
    Type.Literal('webhook'),
    Type.Literal('schedule'),
    Type.Literal('interval'),
    Type.Literal('event'),
    Type.Literal('file'),
  ]),
  text: Type.String({ description: 'E.g. `POST /hooks/orders`, `0 6 * * * Europe/Berlin`, `every 5m`.' }),
});

/** What a workflow uses and asks for, with the workflows that it inlines. */
const Manifest = Type.Object(
  {
    actions: Type.Array(
      Type.Object({
        action: Type.String({ description: 'The reference as written: `http.request@1`.' }),
        effect: nullable(
          Type.String({
            description: '`pure`, `idempotent`, `once`, or `depends on the input`. Null: no such action is known here.',
          }),
        ),
        nodes: Type.Integer({ description: 'How many nodes use it.' }),
      }),
    ),
    capabilities: { ...AnyJson, description: 'All capabilities that it asks for, as in a definition.' },
    credentials: Type.Array(Type.Object({ alias: Type.String(), secret: Type.String() })),
    workflows: Type.Array(
      Type.Object({
        workflowId: Type.String(),
        version: nullable(Version),
        mode: Type.Union([Type.Literal('inline'), Type.Literal('child')]),
      }),
    ),
    plans: Type.Array(Type.String(), { description: 'Launch plans that its nodes start.' }),
    triggers: Type.Array(TriggerSummary),
  },
  { $id: 'Manifest' },
);

export const Validation = Type.Object({
  valid: Type.Boolean(),
  problems: Type.Array(DefinitionProblem),
  manifest: Type.Optional(Manifest),
  ceiling: {
    ...AnyJson,
    description: 'The most that executions of its project may be granted: `all`, or capabilities.',
  },
});

export const RegisterBody = Type.Object(
  {
    ...DefinitionBody.properties,
    activate: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Activates the version: its triggers are enabled, and starts use it.',
      }),
    ),
    saveToFile: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Also writes `source` into the file that the workflow comes from. Only for the owner of a desktop server, and only while the file is as the server registered it.',
      }),
    ),
  },
  closed,
);

export const Registered = Type.Object({
  workflowId: Type.String(),
  version: Version,
  created: Type.Boolean({ description: 'False when a version with the same content already existed.' }),
  active: Type.Boolean(),
  warnings: Type.Array(DefinitionProblem),
});

const Origin = Type.Union(
  [
    Type.Object({ kind: Type.Literal('api') }),
    Type.Object({
      kind: Type.Literal('file'),
      path: Type.String({ description: 'Relative to the project folder of the server.' }),
      version: Version,
      writable: Type.Boolean({ description: 'Whether `registerWorkflow` with `saveToFile` can write the file.' }),
    }),
  ],
  {
    description:
      'Where the workflow comes from. The server registers and activates its file again when the file changes; `version` is the one that the file had last.',
  },
);

const RecentExecution = Type.Object({
  executionId: Type.String(),
  status: Type.String(),
  durationMs: nullable(Type.Integer({ description: 'Null until it has ended.' })),
});

export const WorkflowSummary = Type.Object(
  {
    workflowId: Type.String(),
    project: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    description: Type.Union([Type.String(), Type.Null()]),
    tags: Type.Array(Type.String()),
    newestVersion: Version,
    activeVersion: Type.Union([Version, Type.Null()]),
    versions: Type.Integer({ description: 'How many versions there are.' }),
    updatedAt: Moment,
    origin: Origin,
    archived: Type.Boolean(),
    triggers: Type.Array(TriggerSummary, { description: 'Those of the active version, else of the newest one.' }),
    recent: Type.Optional(
      Type.Array(RecentExecution, {
        description: 'The newest executions, newest first, if the list was asked for them.',
      }),
    ),
  },
  { $id: 'Workflow' },
);

/** The text as its author wrote it, with comments and order. */
const WorkflowSource = Type.Object(
  {
    text: nullable(Type.String({ description: 'Null: the workflow is code.' })),
    format: Type.Union([Type.Literal('yaml'), Type.Literal('json'), Type.Literal('typescript')]),
    filename: nullable(Type.String()),
  },
  { description: 'Null: the version was registered as JSON, without a text.' },
);

export const WorkflowVersion = Type.Object(
  {
    workflowId: Type.String(),
    version: Version,
    hash: Type.String(),
    createdAt: Moment,
    active: Type.Boolean(),
    definition: Type.Optional(AnyJson),
    source: Type.Optional(nullable(WorkflowSource)),
    manifest: Type.Optional(Manifest),
  },
  { $id: 'WorkflowVersion' },
);

const VersionStructure = Type.Object(
  {
    workflow: Type.Array(Type.String(), { description: 'Changed keys of the workflow itself: `input`, `triggers` …' }),
    nodes: Type.Array(
      Type.Object({
        change: Type.Union([
          Type.Literal('added'),
          Type.Literal('removed'),
          Type.Literal('renamed'),
          Type.Literal('changed'),
        ]),
        path: Type.String({ description: 'E.g. `items/pack`; of a removed node, its path in the older one.' }),
        from: Type.Optional(Type.String({ description: 'The path of a renamed node in the older one.' })),
        keys: Type.Optional(Type.Array(Type.String(), { description: 'The changed keys of the node.' })),
      }),
    ),
    edges: Type.Array(
      Type.Object({
        change: Type.Union([Type.Literal('added'), Type.Literal('removed')]),
        from: Type.String(),
        to: Type.String(),
        label: Type.Optional(Type.String({ description: 'The case of a branch, or what the edge is `on`.' })),
      }),
    ),
  },
  {
    description:
      'What is different in the graph. The order of members is no change, and a node with another id and the same content is renamed.',
  },
);

export const VersionDiff = Type.Object({
  from: Version,
  to: Version,
  changes: Type.Array(
    Type.Object({
      path: Type.String({ description: 'E.g. `nodes.fetch.timeout`.' }),
      change: Type.Union([Type.Literal('added'), Type.Literal('removed'), Type.Literal('changed')]),
      before: Type.Optional(AnyJson),
      after: Type.Optional(AnyJson),
    }),
  ),
  structure: VersionStructure,
});

export const CompareBody = Type.Object(
  {
    ...DefinitionBody.properties,
    version: Type.Optional(
      Type.Union([Version, Type.Literal('newest'), Type.Literal('active')], {
        default: 'newest',
        description: 'The version to compare with.',
      }),
    ),
  },
  closed,
);

export const Comparison = Type.Object({
  from: Version,
  changes: VersionDiff.properties.changes,
  structure: VersionStructure,
});

const DraftHead = {
  workflowId: Type.String(),
  project: Type.String(),
  format: Type.Union([Type.Literal('yaml'), Type.Literal('json')]),
  filename: nullable(Type.String()),
  baseVersion: nullable(
    Type.Integer({ minimum: 1, description: 'The version that the draft was begun from; null: a new workflow.' }),
  ),
  revision: Type.Integer({
    description: 'Send it as `If-Match: "<revision>"`; `"0"` means that there is no draft yet.',
  }),
  savedAt: Moment,
  expiresAt: Moment,
};

export const DraftSummary = Type.Object(DraftHead, { $id: 'DraftSummary' });

export const Draft = Type.Object({ ...DraftHead, text: Type.String() }, { $id: 'Draft' });

export const DraftBody = Type.Object(
  {
    text: Type.String({
      maxLength: CONTRACT_LIMITS.maxSourceChars,
      description: 'The text as it is; it need not be a valid definition.',
    }),
    format: Type.Optional(Type.Union([Type.Literal('yaml'), Type.Literal('json')], { default: 'yaml' })),
    filename: Type.Optional(Type.String({ maxLength: 500 })),
    baseVersion: Type.Optional(nullable(Version)),
  },
  closed,
);

const Coordinate = Type.Number({ minimum: -10_000_000, maximum: 10_000_000 });

const LayoutMembers = {
  direction: Type.Union([Type.Literal('right'), Type.Literal('down')]),
  nodes: Type.Record(Type.String(), Type.Object({ x: Coordinate, y: Coordinate }, closed), {
    maxProperties: CONTRACT_LIMITS.maxLayoutNodes,
    description: 'Positions of the nodes that were moved by hand, by path: `items/pack`.',
  }),
  collapsed: Type.Array(NodePath, { maxItems: CONTRACT_LIMITS.maxLayoutNodes, description: 'Paths of closed groups.' }),
};

export const LayoutBody = Type.Object(
  {
    direction: Type.Optional({ ...LayoutMembers.direction, default: 'right' }),
    nodes: Type.Optional(LayoutMembers.nodes),
    collapsed: Type.Optional(LayoutMembers.collapsed),
  },
  closed,
);

export const Layout = Type.Object(
  {
    workflowId: Type.String(),
    ...LayoutMembers,
    revision: Type.Integer({ description: '0: nothing was moved yet. Send it as `If-Match: "<revision>"`.' }),
  },
  { $id: 'Layout' },
);
