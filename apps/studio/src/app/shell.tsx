/** The rail, the bar above, and the page between them. */
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { useRead } from '../data/queries.ts';
import { useConnection } from '../data/use-live.ts';
import { useInboxCount } from '../pages/inbox/use-inbox-count.ts';
import { LANGUAGES } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { Key, Select } from '../ui/controls.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';
import { Empty, Loading } from '../ui/page.tsx';
import { CommandPalette } from './command-palette.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { useGlobalKeys } from './global-keys.ts';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Logo } from './logo.tsx';
import { THEMES } from './preferences.ts';
import { PATHS } from './routes.ts';
import { shellText } from './shell-text.ts';
import { useMay, useStudio } from './studio-context.ts';
import { Tour } from './tour/tour.tsx';
import './shell.css';

const PAGES = {
  runs: lazy(() => import('../pages/runs/runs-page.tsx')),
  run: lazy(() => import('../pages/run/run-page.tsx')),
  workflows: lazy(() => import('../pages/workflows/workflows-page.tsx')),
  workflow: lazy(() => import('../pages/workflow/workflow-page.tsx')),
  compare: lazy(() => import('../pages/compare/compare-page.tsx')),
  inbox: lazy(() => import('../pages/inbox/inbox-page.tsx')),
  schedules: lazy(() => import('../pages/schedules/schedules-page.tsx')),
  fleet: lazy(() => import('../pages/fleet/fleet-page.tsx')),
  overview: lazy(() => import('../pages/overview/overview-page.tsx')),
  credentials: lazy(() => import('../pages/credentials/credentials-page.tsx')),
  audit: lazy(() => import('../pages/audit/audit-page.tsx')),
  settings: lazy(() => import('../pages/settings/settings-page.tsx')),
  editor: lazy(() => import('../pages/editor/editor-page.tsx')),
};

/** Pages whose address has no part that varies. */
const LISTS = ['compare', 'inbox', 'schedules', 'fleet', 'overview', 'credentials', 'audit', 'settings'] as const;

export function Shell(): ReactElement {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [location] = useLocation();
  useGlobalKeys({ openPalette: () => setPaletteOpen(true), openHelp: () => setHelpOpen(true) });
  return (
    <div className="shell">
      <Rail />
      <div className="shell-main">
        <TopBar onSearch={() => setPaletteOpen(true)} />
        <div className="shell-page">
          <ErrorBoundary key={location.split('/')[1]}>
            <Suspense fallback={<Loading />}>
              <Pages />
            </Suspense>
          </ErrorBoundary>
        </div>
      </div>
      <Tour />
      {isPaletteOpen && <CommandPalette onClose={() => setPaletteOpen(false)} />}
      {isHelpOpen && <KeyboardHelp onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

function Pages(): ReactElement {
  const words = useText(shellText);
  return (
    <Switch>
      <Route path="/">
        <Redirect to={PATHS.runs} replace />
      </Route>
      <Route path={PATHS.runs}>
        <PAGES.runs />
      </Route>
      <Route path={PATHS.run}>{({ executionId }) => <PAGES.run key={executionId} executionId={executionId} />}</Route>
      <Route path={PATHS.workflows}>
        <PAGES.workflows />
      </Route>
      <Route path={PATHS.newWorkflow}>
        <PAGES.editor key="new" />
      </Route>
      <Route path={PATHS.editor}>{({ workflowId }) => <PAGES.editor key={workflowId} workflowId={workflowId} />}</Route>
      <Route path={PATHS.workflow}>
        {({ workflowId }) => <PAGES.workflow key={workflowId} workflowId={workflowId} />}
      </Route>
      {LISTS.map((name) => {
        const List = PAGES[name];
        return (
          <Route key={name} path={PATHS[name]}>
            <List />
          </Route>
        );
      })}
      <Route>
        <Empty title={words.notFound} actions={<Link href={PATHS.runs}>{words.toRuns}</Link>} />
      </Route>
    </Switch>
  );
}

interface RailEntry {
  readonly path: string;
  readonly icon: IconName;
  readonly label: string;
  readonly count?: number;
  /** Left out of the narrow rail of a phone. */
  readonly isRare?: boolean;
}

function Rail(): ReactElement {
  const words = useText(shellText);
  const { me } = useStudio();
  const upper: readonly RailEntry[] = [
    { path: PATHS.runs, icon: 'runs', label: words.runs },
    { path: PATHS.workflows, icon: 'workflows', label: words.workflows },
    { path: PATHS.inbox, icon: 'inbox', label: words.inbox, count: useInboxCount() },
    { path: PATHS.schedules, icon: 'schedules', label: words.schedules },
    { path: PATHS.fleet, icon: 'fleet', label: words.fleet },
    { path: PATHS.overview, icon: 'overview', label: words.overview },
  ];
  const lower: readonly RailEntry[] = [
    ...(useMay('editor')
      ? [{ path: PATHS.credentials, icon: 'credentials' as const, label: words.credentials, isRare: true }]
      : []),
    ...(me.admin ? [{ path: PATHS.audit, icon: 'audit' as const, label: words.audit, isRare: true }] : []),
    { path: PATHS.settings, icon: 'settings', label: words.settings },
  ];
  return (
    <nav className="rail" aria-label={words.navigation}>
      <Link href={PATHS.runs} className="rail-logo" aria-label="Nebula">
        <Logo />
      </Link>
      {upper.map((entry) => (
        <RailLink key={entry.path} {...entry} />
      ))}
      <span className="spring" />
      {lower.map((entry) => (
        <RailLink key={entry.path} {...entry} />
      ))}
    </nav>
  );
}

/** Pages of one run or workflow belong to their list. */
const SECTION_OF: Readonly<Record<string, string>> = {
  '/r': PATHS.runs,
  '/compare': PATHS.runs,
  '/w': PATHS.workflows,
};

function RailLink({ path, icon, label, count = 0, isRare = false }: RailEntry): ReactElement {
  const [location] = useLocation();
  const section = `/${location.split('/')[1] ?? ''}`;
  const isHere = (SECTION_OF[section] ?? section) === path;
  return (
    <Link
      href={path}
      className={isRare ? 'rail-link rail-rare' : 'rail-link'}
      aria-current={isHere ? 'page' : undefined}
      title={label}
    >
      <Icon name={icon} size={18} />
      <span className="rail-label">{label}</span>
      {count > 0 && <span className="rail-count">{count > 99 ? '99+' : count}</span>}
    </Link>
  );
}

function TopBar({ onSearch }: { onSearch(): void }): ReactElement {
  const words = useText(shellText);
  const studio = useStudio();
  const { preferences, prefer, me } = studio;
  return (
    <header className="top-bar">
      <ProjectSwitch />
      <span className="spring" />
      <LiveDot />
      <button type="button" className="top-search" onClick={onSearch} title={words.search}>
        <Icon name="search" size={14} />
        <span>{words.search}</span>
        <Key>Ctrl K</Key>
      </button>
      <Menu
        label={words.theme}
        className="button-quiet icon-button"
        items={THEMES.map((theme) => ({
          label: words.themes[theme],
          ...(preferences.theme === theme && { icon: 'check' as const }),
          onChoose: () => prefer({ theme }),
        }))}
      >
        <Icon name={studio.theme === 'light' ? 'sun' : 'moon'} />
      </Menu>
      <Menu
        label={me.user}
        className="button-quiet icon-button"
        items={[
          ...Object.entries(LANGUAGES).map(([language, name]) => ({
            label: name,
            ...(preferences.language === language && { icon: 'check' as const }),
            onChoose: () => prefer({ language: language as keyof typeof LANGUAGES }),
          })),
          { label: words.signOut, onChoose: studio.signOut },
        ]}
      >
        <Icon name="user" />
      </Menu>
    </header>
  );
}

function ProjectSwitch(): ReactElement | null {
  const words = useText(shellText);
  const { project, prefer } = useStudio();
  const { data } = useRead('listProjects', { query: { limit: 200 } });
  if (data === undefined || data.items.length < 2) return null;
  return (
    <Select aria-label={words.project} value={project} onChange={({ target }) => prefer({ project: target.value })}>
      {data.items.map(({ projectId, name }) => (
        <option key={projectId} value={projectId}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function LiveDot(): ReactElement | null {
  const words = useText(shellText);
  const connection = useConnection();
  if (connection === 'idle') return null;
  return (
    <span className={`live-dot live-${connection}`} role="status">
      <span aria-hidden="true" />
      {words.connection[connection]}
    </span>
  );
}
