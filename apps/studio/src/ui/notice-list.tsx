import { type ReactElement, useSyncExternalStore } from 'react';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { IconButton } from './controls.tsx';
import { Icon } from './icons.tsx';
import { currentNotices, dismiss, watchNotices } from './notices.ts';
import './notice-list.css';

const text = defineText({ en: { dismiss: 'Dismiss' }, de: { dismiss: 'Ausblenden' } });

export function NoticeList(): ReactElement {
  const notices = useSyncExternalStore(watchNotices, currentNotices);
  const words = useText(text);
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.id} className={`notice notice-${notice.kind}`}>
          <Icon name={notice.kind === 'done' ? 'check' : 'warning'} />
          <div>
            <p>{notice.message}</p>
            {notice.kind === 'failure' && notice.hint !== undefined && <p className="muted">{notice.hint}</p>}
          </div>
          <IconButton icon="close" label={words.dismiss} onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}
