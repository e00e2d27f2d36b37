/**
 * The thread that checks large definitions, one job after the other. During a job it asks the
 * process for actions and stored workflows and waits for the answers.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Catalog, type Ceiling, compilePlan, type Json, type WorkflowDefinition } from '@nebula/core';
import { checkDefinition } from './check.ts';
import { catalogOver, type Done, type Job, type Question } from './questions.ts';
import { keyOf } from './used-workflows.ts';

const { answers, bell } = workerData as { readonly answers: MessagePort; readonly bell: Int32Array };

function ask(question: Question): Json | undefined {
  parentPort?.postMessage({ question });
  Atomics.wait(bell, 0, 0);
  Atomics.store(bell, 0, 0);
  const { message } = receiveMessageOnPort(answers) as { readonly message: { readonly answer?: string } };
  return message.answer === undefined ? undefined : (JSON.parse(message.answer) as Json);
}

function done({ input, ceiling, capabilities, labels, isBounded }: Job): Done {
  const found = new Map<string, WorkflowDefinition | undefined>();
  const catalog = catalogOver(ask, { capabilities, labels } as Pick<Catalog, 'capabilities' | 'labels'>);
  const checked = checkDefinition(
    'source' in input ? input : { definition: JSON.parse(input.definition as string) as Json },
    {
      compile: (definition, options) => compilePlan(definition, catalog, options),
      ceiling: ceiling as Ceiling,
      isBounded,
      workflows: (id, version) => {
        const key = keyOf(id, version);
        if (!found.has(key)) {
          const row = ask({ ask: 'workflow', id, version: version ?? null }) as
            | { readonly text: string; readonly version: number }
            | undefined;
          found.set(key, row && { ...(JSON.parse(row.text) as WorkflowDefinition), version: row.version });
        }
        return found.get(key);
      },
    },
  );
  if ('tooMany' in checked) return checked;
  return { definition: (checked.definition ?? null) as Json, problems: checked.problems };
}

parentPort?.on('message', (job: Job) => {
  let answer: Done;
  try {
    answer = done(job);
  } catch (error) {
    answer = { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const text = JSON.stringify(answer);
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ done: text, usedMs: (user + system) / 1_000 });
});
