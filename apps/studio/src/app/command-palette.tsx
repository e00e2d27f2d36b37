/** Ctrl-K: go to any page, workflow or run by typing a part of its name. */
import { type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useRead } from '../data/queries.ts';
import { useText } from '../text/use-text.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { matching } from './matching.ts';
import { editorPath, PATHS, runPath, workflowPath } from './routes.ts';
import { shellText } from './shell-text.ts';
import { useStudio } from './studio-context.ts';
import './command-palette.css';

interface Command {
  readonly icon: IconName;
  readonly label: string;
  readonly note?: string;
  readonly path: string;
}

const MAX_SHOWN = 12;

export function CommandPalette({ onClose }: { onClose(): void }): ReactElement {
  const words = useText(shellText);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const found = matching(useCommands(), typed, ({ label, note = '' }) => `${label} ${note}`).slice(0, MAX_SHOWN);
  const commands = /^exe_\w+$/.test(typed.trim())
    ? [{ icon: 'runs' as const, label: words.openRun(typed.trim()), path: runPath(typed.trim()) }, ...found]
    : found;
  useEffect(() => dialog.current?.showModal(), []);
  const choose = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    navigate(command.path);
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={words.search}
      onClose={onClose}
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={`${id}-${at}`}
        aria-label={words.search}
        placeholder={words.search}
        spellCheck={false}
        autoFocus
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0) {
            event.preventDefault();
            setAt((at + step + commands.length) % Math.max(1, commands.length));
          } else if (event.key === 'Enter') choose(commands[at]);
        }}
      />
      <div id={id} role="listbox" aria-label={words.search}>
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={`${command.path} ${command.label}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(command)}
          >
            <Icon name={command.icon} />
            <span className="truncate">{command.label}</span>
            {command.note !== undefined && <span className="muted truncate">{command.note}</span>}
          </div>
        ))}
      </div>
      {commands.length === 0 && <p className="palette-empty muted">{words.noMatch}</p>}
    </dialog>
  );
}

function useCommands(): readonly Command[] {
  const words = useText(shellText);
  const { project } = useStudio();
  const workflows = useRead('listWorkflows', { query: { project, limit: 200 } });
  const runs = useRead('listExecutions', { query: { project, limit: 30 } });
  const page = (icon: IconName, label: string, path: string): Command => ({ icon, label: words.goTo(label), path });
  return [
    page('runs', words.runs, PATHS.runs),
    page('workflows', words.workflows, PATHS.workflows),
    page('inbox', words.inbox, PATHS.inbox),
    page('schedules', words.schedules, PATHS.schedules),
    page('fleet', words.fleet, PATHS.fleet),
    page('overview', words.overview, PATHS.overview),
    page('credentials', words.credentials, PATHS.credentials),
    page('audit', words.audit, PATHS.audit),
    page('settings', words.settings, PATHS.settings),
    { icon: 'plus', label: words.newWorkflow, path: PATHS.newWorkflow },
    ...(workflows.data?.items ?? []).flatMap(({ workflowId, name }) => [
      { icon: 'workflows' as const, label: name ?? workflowId, note: workflowId, path: workflowPath(workflowId) },
      { icon: 'edit' as const, label: name ?? workflowId, note: `${workflowId} · edit`, path: editorPath(workflowId) },
    ]),
    ...(runs.data?.items ?? []).map(({ executionId, workflowId, status }) => ({
      icon: 'runs' as const,
      label: `${workflowId} · ${status}`,
      note: executionId,
      path: runPath(executionId),
    })),
  ];
}
