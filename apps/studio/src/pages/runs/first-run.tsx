/** The runs of a project that has none: the graph of a workflow in outline, and its start form, filled in. */
import { NebulaGraph } from '@nebula/canvas/react';
import type { WorkflowDefinition } from '@nebula/core';
import { type ReactElement, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { PATHS, runPath } from '../../app/routes.ts';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Select } from '../../ui/controls.tsx';
import { Empty, Loading } from '../../ui/page.tsx';
import { useSchemaForm } from '../../ui/schema-form/schema-form.tsx';
import { runsText } from './runs-text.ts';
import { sampleInput } from './sample-input.ts';
import './first-run.css';

export function FirstRun(): ReactElement {
  const words = useText(runsText);
  const { project } = useStudio();
  const mayOperate = useMay('operator');
  const [chosen, setChosen] = useState<string>();
  const workflows = useRead('listWorkflows', { query: { project, limit: 200 } });
  if (workflows.data === undefined) return <Loading />;
  const active = workflows.data.items.filter(({ activeVersion }) => activeVersion !== null);
  const workflow = active.find(({ workflowId }) => workflowId === chosen) ?? active[0];
  if (workflow === undefined || !mayOperate) {
    return (
      <Empty
        title={words.emptyTitle}
        actions={
          <Link href={workflow === undefined ? PATHS.newWorkflow : PATHS.workflows} className="button button-primary">
            {workflow === undefined ? words.make : words.start}
          </Link>
        }
      >
        <p>{words.empty}</p>
      </Empty>
    );
  }
  return (
    <div className="first-run">
      <Ghost workflowId={workflow.workflowId} />
      <div className="first-run-panel">
        <h2>{words.emptyTitle}</h2>
        <p className="muted">{words.empty}</p>
        <Select
          aria-label={words.workflow}
          value={workflow.workflowId}
          onChange={({ target }) => setChosen(target.value)}
        >
          {active.map(({ workflowId, name }) => (
            <option key={workflowId} value={workflowId}>
              {name ?? workflowId}
            </option>
          ))}
        </Select>
        <StartForm key={workflow.workflowId} workflowId={workflow.workflowId} />
      </div>
    </div>
  );
}

function Ghost({ workflowId }: { readonly workflowId: string }): ReactElement {
  const { theme } = useStudio();
  const version = useRead('getWorkflowVersion', { params: { workflowId, version: 'active' } });
  return (
    <div className="first-run-ghost" inert>
      {version.data !== undefined && (
        <NebulaGraph
          definition={version.data.definition as WorkflowDefinition}
          theme={theme}
          minimap="off"
          label={workflowId}
        />
      )}
    </div>
  );
}

function StartForm({ workflowId }: { readonly workflowId: string }): ReactElement {
  const version = useRead('getWorkflowVersion', { params: { workflowId, version: 'active' } });
  if (version.data === undefined) return <Loading />;
  const { input } = version.data.definition as { readonly input?: unknown };
  return <LoadedForm workflowId={workflowId} schema={input} />;
}

function LoadedForm({ workflowId, schema }: { readonly workflowId: string; readonly schema: unknown }): ReactElement {
  const words = useText(runsText);
  const [, navigate] = useLocation();
  const form = useSchemaForm(schema, sampleInput(schema));
  const start = useChange('startExecution', {
    refreshes: ['listExecutions', 'countExecutions'],
    onDone: ({ executionId }) => navigate(runPath(executionId)),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const given = schema === undefined ? { value: undefined } : form.read();
        if (given === undefined) return;
        start.mutate({ body: { workflowId, ...(given.value !== undefined && { input: given.value }) } });
      }}
    >
      {schema !== undefined && form.element}
      <Button kind="primary" icon="play" type="submit" isBusy={start.isPending}>
        {words.startFirst}
      </Button>
    </form>
  );
}
