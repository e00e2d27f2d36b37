import { type DrawnRun, graphOfDefinition, locate } from '@nebula/canvas/model';
import { NebulaGraph } from '@nebula/canvas/react';
import type { AnswerOf } from '@nebula/client';
import type { WorkflowDefinition } from '@nebula/core';
import { type ReactElement, useMemo } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useStudio } from '../../app/studio-context.ts';
import { useRead } from '../../data/queries.ts';
import { isShownStatus, statusText } from '../../text/status-text.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Icon } from '../../ui/icons.tsx';
import { Loading } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { compareText } from './compare-text.ts';
import { compareRuns, type NodeDifference, slowest } from './differences.ts';
import { NodeValues } from './node-values.tsx';
import { useOutputDifference } from './use-output-difference.ts';

type RunDocument = AnswerOf<'getExecution'>;

const SLOWEST = 12;

interface ComparisonProps {
  readonly a: RunDocument;
  readonly b: RunDocument;
  readonly node: string | undefined;
  onNode(path: string | undefined): void;
}

export function Comparison({ a, b, node, onNode }: ComparisonProps): ReactElement {
  const words = useText(compareText);
  const differences = useMemo(() => compareRuns(a, b), [a, b]);
  const first = differences.find(({ differs }) => differs !== undefined);
  const before = first === undefined ? differences : differences.slice(0, differences.indexOf(first));
  const output = useOutputDifference(a, b, before);
  const path = node ?? output.path ?? first?.path;
  const note =
    a.workflowId !== b.workflowId
      ? words.otherWorkflows
      : a.version !== b.version
        ? words.otherVersions(a.version, b.version)
        : undefined;
  return (
    <>
      <section className="first-difference" aria-label={words.first}>
        <h3>{words.first}</h3>
        {output.isPending ? (
          <p className="muted">{words.searching}</p>
        ) : (
          <FirstDifference output={output.path} first={first} onNode={onNode} />
        )}
        {note !== undefined && <p className="muted">{note}</p>}
      </section>
      <div className="compare-sides">
        <Side name="A" run={a} node={path} onNode={onNode} />
        <Side name="B" run={b} node={path} onNode={onNode} />
      </div>
      {path !== undefined && <NodeValues a={a} b={b} node={path} />}
      <Slower differences={differences} onNode={onNode} />
    </>
  );
}

interface FirstDifferenceProps {
  /** The node before the first other difference whose output differs. */
  readonly output: string | undefined;
  readonly first: NodeDifference | undefined;
  onNode(path: string): void;
}

function FirstDifference({ output, first, onNode }: FirstDifferenceProps): ReactElement {
  const words = useText(compareText);
  const statuses = useText(statusText);
  const path = output ?? first?.path;
  if (path === undefined) {
    return (
      <p>
        <Icon name="check" /> {words.same}
      </p>
    );
  }
  const statusOf = (status: string | undefined): string =>
    status === undefined ? words.absent : isShownStatus(status) ? statuses[status].toLowerCase() : status;
  const sentence =
    output !== undefined || first === undefined
      ? words.byOutput(path)
      : first.differs === 'status'
        ? words.byStatus(path, statusOf(first.a?.status), statusOf(first.b?.status))
        : first.differs === 'error'
          ? words.byError(path)
          : words.byAttempts(path, first.a?.attempts ?? 0, first.b?.attempts ?? 0);
  return (
    <p>
      <button type="button" className="link" onClick={() => onNode(path)}>
        {sentence}
      </button>
    </p>
  );
}

interface SideProps {
  readonly name: 'A' | 'B';
  readonly run: RunDocument;
  readonly node: string | undefined;
  onNode(path: string | undefined): void;
}

function Side({ name, run, node, onNode }: SideProps): ReactElement {
  const words = useText(compareText);
  const format = useFormat();
  const { theme } = useStudio();
  const { executionId } = run;
  const read = useRead('getDefinition', { params: { executionId } });
  const definition = read.data?.definition as WorkflowDefinition | undefined;
  const graph = useMemo(() => (definition === undefined ? undefined : graphOfDefinition(definition)), [definition]);
  const selected = graph === undefined || node === undefined ? undefined : locate(graph, node)?.node;
  const selection = useMemo(() => (selected === undefined ? [] : [selected]), [selected]);
  return (
    <section className="compare-side" aria-label={name}>
      <header>
        <strong>{name}</strong>
        <Status status={run.status} />
        <Link href={runPath(executionId, { node })} className="mono truncate">
          {executionId}
        </Link>
        <span className="spring" />
        {run.durationMs !== null && <span>{format.duration(run.durationMs)}</span>}
      </header>
      <div className="compare-graph">
        {graph === undefined ? (
          <Loading />
        ) : (
          <NebulaGraph
            graph={graph}
            run={run as unknown as DrawnRun}
            selection={selection}
            theme={theme}
            minimap="off"
            label={words.graphOf(name)}
            onSelect={({ detail }) => {
              const chosen = detail.nodes.at(-1);
              if (chosen !== undefined && chosen !== selected) onNode(chosen);
            }}
          />
        )}
      </div>
    </section>
  );
}

function Slower({
  differences,
  onNode,
}: {
  readonly differences: readonly NodeDifference[];
  onNode(path: string): void;
}): ReactElement {
  const words = useText(compareText);
  const format = useFormat();
  const rows = slowest(differences, SLOWEST);
  return (
    <section className="compare-slower">
      <h2>{words.slower}</h2>
      {rows.length === 0 ? (
        <p className="muted">{words.noDurations}</p>
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th>{words.node}</th>
              <th className="cell-number">{words.inA}</th>
              <th className="cell-number">{words.inB}</th>
              <th className="cell-number">{words.ratio}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ path, a, b, ratio, extraMs = 0 }) => (
              <tr key={path}>
                <td className="cell-main">
                  <button type="button" className="link" onClick={() => onNode(path)}>
                    {path}
                  </button>
                </td>
                <td className="cell-number">{format.duration(a?.durationMs ?? 0)}</td>
                <td className="cell-number">{format.duration(b?.durationMs ?? 0)}</td>
                <td className={extraMs > 0 ? 'cell-number compare-worse' : 'cell-number'}>
                  {ratio === undefined ? '–' : `× ${format.ratio(ratio)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
