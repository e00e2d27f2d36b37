/** A question or a form over the page. The browser's own dialog keeps the focus and closes with Escape. */
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { IconButton } from './controls.tsx';
import './dialog.css';

const text = defineText({ en: { close: 'Close' }, de: { close: 'Schließen' } });

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons below; the last one is the main one. */
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  onClose(): void;
  /** The main action, by Enter in a field. */
  onSubmit?(): void;
}

export function Dialog({ title, children, actions, isWide = false, onClose, onSubmit }: DialogProps): ReactElement {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const words = useText(text);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={onClose}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label={words.close} onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {actions !== undefined && <footer>{actions}</footer>}
      </form>
    </dialog>
  );
}
