/** Test runs, their pins, and rehearsals. */
import { Type } from 'typebox';
import { CONTRACT_LIMITS } from '../limits.ts';
import { RunError, RunStatus } from './executions.ts';
import { AnyJson, closed, Id, Moment, NodePath, PageQuery, RunVersion, Version } from './pieces.ts';
import { DefinitionBody } from './workflows.ts';

const DefinitionNode = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'The path of a node in the definition, without iterations: `items/pack`.',
});

const Pin = Type.Union(
  [
    Type.Object({ output: AnyJson }, closed),
    Type.Object(
      {
        error: Type.Object(
          {
            code: Type.String({ minLength: 1, maxLength: 200 }),
            message: Type.String({ maxLength: 10_000 }),
            details: Type.Optional(AnyJson),
          },
          closed,
        ),
      },
      closed,
    ),
    Type.Object({ skipped: Type.Literal(true) }, closed),
  ],
  { description: 'The result that a node has instead of running.' },
);

export const TestBody = Type.Object(
  {
    workflowId: Type.Optional({ ...Id, description: 'A registered workflow, instead of a definition.' }),
    version: Type.Optional({ ...Version, description: 'Of the registered workflow; by default the active one.' }),
    ...DefinitionBody.properties,
    input: Type.Optional(AnyJson),
    executionId: Type.Optional(Id),
    until: Type.Optional({ ...DefinitionNode, description: 'Run this node and all that leads to it.' }),
    only: Type.Optional({
      ...DefinitionNode,
      description: 'Run this node alone. The nodes before it are pinned, or have their results `from` another run.',
    }),
    from: Type.Optional({ ...Id, description: 'An ended execution of the workflow.' }),
    pins: Type.Optional(
      Type.Record(Type.String({ maxLength: 2_000 }), Pin, {
        description: 'By the path of the node in the definition.',
        maxProperties: CONTRACT_LIMITS.maxPins,
      }),
    ),
  },
  closed,
);

export const OutputQuery = Type.Object(
  { ...PageQuery, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })) },
  closed,
);

export const NodeOutput = Type.Object(
  {
    node: DefinitionNode,
    path: { ...NodePath, description: 'The path in the run: in a loop, that of the iteration that ended last.' },
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed'), Type.Literal('skipped')]),
    at: Moment,
    bytes: Type.Optional(Type.Integer({ description: 'The length of the output as JSON text.' })),
    output: Type.Optional({ ...AnyJson, description: 'Absent if it is longer than a preview.' }),
    preview: Type.Optional(Type.String({ description: 'The beginning of the JSON text of a long output.' })),
    error: Type.Optional(RunError),
  },
  { $id: 'NodeOutput' },
);

export const RehearsalBody = Type.Object(
  {
    ...DefinitionBody.properties,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CONTRACT_LIMITS.maxRehearsedRuns,
        default: 20,
        description: 'The number of runs, the newest first.',
      }),
    ),
  },
  closed,
);

const Difference = Type.Object(
  {
    kind: Type.String({ description: 'E.g. `other-edges`, `other-input`, `would-run`, `node-missing`.' }),
    node: Type.Union([Type.String(), Type.Null()], { description: 'Null: the run itself.' }),
    text: Type.String(),
    frame: Type.Integer({ description: 'The frame of the journal in which the decisions differ.' }),
    at: Moment,
    recorded: { ...AnyJson, description: 'What was decided; null if it is long.' },
    now: { ...AnyJson, description: 'What would be decided; null if it is long.' },
  },
  { description: 'The first decision that would be another one.' },
);

const RehearsedRun = Type.Object({
  executionId: Type.String(),
  version: RunVersion,
  status: RunStatus,
  createdAt: Moment,
  result: Type.Union([Type.Literal('same'), Type.Literal('differs'), Type.Literal('not-replayed')]),
  unclear: Type.Optional(
    Type.Integer({
      description: 'Frames that were accepted without a check: the journal does not say what caused them.',
    }),
  ),
  difference: Type.Optional(Difference),
  reason: Type.Optional(Type.String({ description: 'Why the run was not replayed.' })),
});

export const Rehearsal = Type.Object(
  {
    counts: Type.Object({ same: Type.Integer(), differs: Type.Integer(), notReplayed: Type.Integer() }),
    runs: Type.Array(RehearsedRun),
  },
  { $id: 'Rehearsal' },
);
