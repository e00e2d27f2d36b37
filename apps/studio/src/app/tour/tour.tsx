/** The tour of a first visit: breaks the example order, finds out why, and mends it. It stays out of the way, and ends for good when it is closed. */
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { api, failureOf } from '../../data/api.ts';
import { useChange, useRead } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, IconButton } from '../../ui/controls.tsx';
import { notify } from '../../ui/notices.ts';
import { PATHS, runPath } from '../routes.ts';
import { useMay, useStudio } from '../studio-context.ts';
import {
  DECLINED_CARD,
  GOOD_CARD,
  TOUR_NODE,
  TOUR_STEPS,
  TOUR_WORKFLOW,
  type TourStep,
  tourStep,
} from './tour-steps.ts';
import { tourText } from './tour-text.ts';
import './tour.css';

export function Tour(): ReactElement | null {
  const { preferences, project } = useStudio();
  const mayOperate = useMay('operator');
  const [location] = useLocation();
  // It begins where people arrive, and then goes with them.
  const [hasBegun, setBegun] = useState(false);
  const isAtHome = location === PATHS.runs || location === PATHS.workflows;
  const isWanted = !preferences.hasSeenTour && mayOperate && (hasBegun || isAtHome);
  const workflows = useRead('listWorkflows', { query: { project, limit: 200 } }, { enabled: isWanted });
  const isThere = workflows.data?.items.some(
    ({ workflowId, activeVersion }) => workflowId === TOUR_WORKFLOW && activeVersion !== null,
  );
  return isWanted && isThere === true ? <TourPanel onBegin={() => setBegun(true)} /> : null;
}

const REFRESH_MS = 500;

function TourPanel({ onBegin }: { onBegin(): void }): ReactElement {
  const words = useText(tourText);
  const { prefer } = useStudio();
  const [, navigate] = useLocation();
  const [executionId, setExecutionId] = useState<string>();
  const [hasFound, setFound] = useState(false);
  const [hasReadWhy, setReadWhy] = useState(false);
  const [hasReplayed, setReplayed] = useState(false);
  const run = useRead(
    'getExecution',
    { params: { executionId: executionId ?? '' }, query: { values: 'none' } },
    { enabled: executionId !== undefined, refetchMs: REFRESH_MS },
  );
  const { step, isWorking } = tourStep({
    hasRun: executionId !== undefined,
    runStatus: run.data?.status,
    nodeStatus: run.data?.nodes[TOUR_NODE]?.status,
    hasFound,
    hasReadWhy,
    hasReplayed,
  });
  const start = useChange('startExecution', {
    refreshes: ['listExecutions', 'countExecutions'],
    onDone: (started) => {
      onBegin();
      setExecutionId(started.executionId);
      navigate(runPath(started.executionId));
    },
  });
  const end = (): void => prefer({ hasSeenTour: true });
  const act: Readonly<Record<TourStep, () => void>> = {
    break: () => start.mutate({ body: { workflowId: TOUR_WORKFLOW, input: { card: DECLINED_CARD } } }),
    find: () => {
      setFound(true);
      navigate(runPath(executionId ?? '', { node: TOUR_NODE }));
    },
    why: () => setReadWhy(true),
    mend: () => void replay(executionId ?? '').then((isAccepted) => setReplayed(isAccepted)),
    done: () => {
      end();
      navigate(PATHS.newWorkflow);
    },
  };
  const { title, text, action } = words.steps[step];
  const number = step === 'done' ? TOUR_STEPS.length : TOUR_STEPS.indexOf(step) + 1;
  return (
    <aside className="tour" aria-label={words.title}>
      <header>
        <span className="tour-kicker">{words.title}</span>
        <IconButton icon="close" label={words.close} onClick={end} />
      </header>
      <h2>{title}</h2>
      <p>{text}</p>
      <footer>
        <span className="tour-dots" role="img" aria-label={words.step(number, TOUR_STEPS.length)}>
          {TOUR_STEPS.map((one, index) => (
            <span key={one} className={index < number ? 'tour-dot tour-dot-on' : 'tour-dot'} />
          ))}
        </span>
        <span className="spring" />
        {isWorking ? (
          <span className="muted" role="status">
            {words.working}
          </span>
        ) : (
          <Button kind="primary" isBusy={start.isPending} onClick={act[step]}>
            {action}
          </Button>
        )}
      </footer>
    </aside>
  );
}

/** Replays the charge with the input that it had, except for the card. */
async function replay(executionId: string): Promise<boolean> {
  const params = { executionId };
  try {
    const { input } = await api.call('getValues', { params, query: { node: TOUR_NODE } });
    const before = input !== null && 'value' in input ? (input.value as Readonly<Record<string, unknown>>) : {};
    await api.call('replayExecution', { params, body: { node: TOUR_NODE, input: { ...before, card: GOOD_CARD } } });
    return true;
  } catch (error) {
    notify({ kind: 'failure', ...failureOf(error) });
    return false;
  }
}
