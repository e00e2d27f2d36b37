/** A menu below a button: a popover of the browser, which closes by Escape and by a click elsewhere. */
import { type ReactElement, type ReactNode, useId, useRef } from 'react';
import { Icon, type IconName } from './icons.tsx';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Why it is disabled, or what it does. */
  readonly title?: string;
  onChoose(): void;
}

interface MenuProps {
  readonly label: string;
  /** The content of the button. */
  readonly children: ReactNode;
  readonly items: readonly MenuItem[];
  readonly className?: string;
}

export function Menu({ label, children, items, className = '' }: MenuProps): ReactElement {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  const focusItem = (step: number): void => {
    const all = [...(popover.current?.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button ${className}`}
        aria-label={label}
        aria-haspopup="menu"
        title={label}
        popoverTarget={id}
      >
        {children}
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        className="menu"
        onToggle={({ newState }) => {
          if (newState !== 'open' || button.current === null || popover.current === null) return;
          place(popover.current, button.current.getBoundingClientRect());
          focusItem(1);
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step === 0) return;
          event.preventDefault();
          focusItem(step);
        }}
      >
        {items.map(({ label: words, icon, isDangerous = false, isDisabled = false, title, onChoose }) => (
          <button
            key={words}
            type="button"
            role="menuitem"
            className={isDangerous ? 'dangerous' : ''}
            disabled={isDisabled}
            title={title}
            onClick={() => {
              popover.current?.hidePopover();
              onChoose();
            }}
          >
            {icon === undefined ? <span className="no-icon" /> : <Icon name={icon} />}
            {words}
          </button>
        ))}
      </div>
    </>
  );
}

const MARGIN = 8;

/** Below the button, inside of the window. */
function place(menu: HTMLElement, { left, right, bottom, top }: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect();
  const x = left + width + MARGIN > innerWidth ? right - width : left;
  const y = bottom + height + MARGIN > innerHeight ? top - height - 4 : bottom + 4;
  menu.style.setProperty('left', `${Math.max(MARGIN, x)}px`);
  menu.style.setProperty('top', `${Math.max(MARGIN, y)}px`);
}
