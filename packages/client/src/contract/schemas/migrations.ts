/** Runs that move to another version of their workflow. */
import { Type } from 'typebox';
import { closed, NodePath, Version } from './pieces.ts';

const migratedNodes = (description: string) => Type.Optional(Type.Array(NodePath, { maxItems: 1_000, description }));

export const MigrationRequest = {
  version: Type.Optional(
    Type.Union([Version, Type.Literal('latest')], {
      default: 'latest',
      description: '`latest`: the active version or, if none is active, the newest.',
    }),
  ),
  keep: migratedNodes('Nodes that keep their result although the version changes them, by path in the definition.'),
  again: migratedNodes('Nodes that begin again, with everything that depends on them.'),
  drop: migratedNodes('Nodes that the version does not have, and whose result is not needed.'),
};

export const MigrateBody = Type.Object(
  {
    ...MigrationRequest,
    dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only says what would happen.' })),
    back: Type.Optional(
      Type.Boolean({ default: false, description: 'Takes the last migration back; not once the run has continued.' }),
    ),
  },
  closed,
);

const Decision = Type.Union([Type.Literal('keep'), Type.Literal('again'), Type.Literal('drop')]);

export const MigrationReport = Type.Object({
  executionId: Type.String(),
  accepted: Type.Boolean({ description: 'False for a dry run.' }),
  from: Version,
  to: Version,
  changes: Type.Array(
    Type.Object({
      node: Type.String({ description: 'The path in the definition, without numbers of iterations.' }),
      change: Type.Union([Type.Literal('added'), Type.Literal('changed'), Type.Literal('removed')]),
      keys: Type.Array(Type.String(), { description: 'Changed keys that can change the result. `do`: the body.' }),
      statuses: Type.Record(Type.String(), Type.Integer(), {
        description: 'Nodes of the run at this path, by status.',
      }),
      choices: Type.Array(Decision, { description: 'Possible decisions; empty if none is needed.' }),
      decision: Type.Optional(Decision),
    }),
  ),
  refusal: Type.Union([
    Type.Object({ code: Type.String(), message: Type.String(), hint: Type.Optional(Type.String()) }),
    Type.Null(),
  ]),
});
