/** The frame of a page: its header, and what it shows when there is nothing, when it loads, and when it fails. */
import type { ReactElement, ReactNode } from 'react';
import { useEffect } from 'react';
import { failureOf } from '../data/api.ts';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { Button } from './controls.tsx';
import './page.css';

const text = defineText({
  en: { loading: 'Loading', again: 'Try again', failed: 'This could not be loaded' },
  de: { loading: 'Wird geladen', again: 'Erneut versuchen', failed: 'Das konnte nicht geladen werden' },
});

interface PageProps {
  readonly title: string;
  /** Beside the title. */
  readonly note?: ReactNode;
  /** At the end of the header. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, note, actions, children }: PageProps): ReactElement {
  useTitle(title);
  return (
    <main className="page">
      <header className="page-header">
        <h1>{title}</h1>
        {note !== undefined && <span className="muted">{note}</span>}
        <span className="spring" />
        {actions}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard on a page without controls. */}
      <div className="page-body" tabIndex={0}>
        {children}
      </div>
    </main>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Nebula`;
  }, [title]);
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Drawn behind, in outline. */
  readonly picture?: ReactNode;
}

/** A state without data says what to do next. */
export function Empty({ title, children, actions, picture }: EmptyProps): ReactElement {
  return (
    <div className="empty">
      {picture !== undefined && (
        <div className="empty-picture" aria-hidden="true">
          {picture}
        </div>
      )}
      <h2>{title}</h2>
      {children !== undefined && <div className="muted">{children}</div>}
      {actions !== undefined && <div className="empty-actions">{actions}</div>}
    </div>
  );
}

export function Loading(): ReactElement {
  const { loading } = useText(text);
  return (
    <div className="loading" role="status" aria-label={loading}>
      <span />
      <span />
      <span />
    </div>
  );
}

export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): ReactElement {
  const words = useText(text);
  const { message, hint, code } = failureOf(error);
  return (
    <Empty title={words.failed} actions={onRetry !== undefined && <Button onClick={onRetry}>{words.again}</Button>}>
      <p role="alert">{message}</p>
      {hint !== undefined && <p>{hint}</p>}
      <p className="mono">{code}</p>
    </Empty>
  );
}
