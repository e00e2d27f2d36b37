/** Settings: of the browser, of the person, and of the server. */
import type { ReactElement } from 'react';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useText } from '../../text/use-text.ts';
import { Tabs } from '../../ui/controls.tsx';
import { Page } from '../../ui/page.tsx';
import { Account } from './account.tsx';
import { Appearance } from './appearance.tsx';
import { Backup } from './backup.tsx';
import { Keys } from './keys.tsx';
import { Notifications } from './notifications.tsx';
import { Projects } from './projects.tsx';
import { settingsText } from './settings-text.ts';
import { Users } from './users.tsx';
import '../../ui/table.css';
import './settings.css';

const TABS = {
  appearance: Appearance,
  account: Account,
  keys: Keys,
  users: Users,
  projects: Projects,
  notifications: Notifications,
  backup: Backup,
} as const;

type Tab = keyof typeof TABS;

export default function SettingsPage(): ReactElement {
  const words = useText(settingsText);
  const [query, setQuery] = useQueryState('tab');
  const tabs = useTabs();
  const tab = tabs.find((known) => known === query.tab) ?? 'appearance';
  const Content = TABS[tab];
  return (
    <Page title={words.title}>
      <Tabs
        label={words.title}
        choices={tabs.map((value) => ({ value, label: words.tabs[value] }))}
        value={tab}
        onChoose={(value) => setQuery({ tab: value === 'appearance' ? undefined : value }, { replace: true })}
      />
      <div className="settings-body" role="tabpanel" aria-label={words.tabs[tab]}>
        <Content />
      </div>
    </Page>
  );
}

/** The tabs that the role allows. A desktop server has no users, and so no keys of users. */
function useTabs(): Tab[] {
  const { info, me } = useStudio();
  const hasUsers = info.authentication === 'users';
  const mayEdit = useMay('editor');
  const mayOwn = useMay('owner');
  const allowed: Readonly<Record<Tab, boolean>> = {
    appearance: true,
    account: true,
    keys: hasUsers,
    users: hasUsers && me.admin,
    projects: mayOwn,
    notifications: mayEdit,
    backup: me.admin,
  };
  return (Object.keys(TABS) as Tab[]).filter((tab) => allowed[tab]);
}
