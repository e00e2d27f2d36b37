/** Buttons, fields and the like. */
import {
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  useId,
} from 'react';
import { Icon, type IconName } from './icons.tsx';
import './controls.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** The work that the button began is under way. */
  readonly isBusy?: boolean;
}

export function Button({
  kind = 'plain',
  icon,
  isBusy = false,
  children,
  className = '',
  ...rest
}: ButtonProps): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      className={`button button-${kind} ${className}`}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled === true || isBusy}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: IconName;
  /** Read out, and shown when the pointer rests on the button. */
  readonly label: string;
}

export function IconButton({ icon, label, kind = 'quiet', className = '', ...rest }: IconButtonProps): ReactElement {
  return (
    <Button {...rest} kind={kind} icon={icon} aria-label={label} title={label} className={`icon-button ${className}`} />
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: true;
  }) => ReactNode;
}

/** A control with its label, a hint, and what is wrong with its value. */
export function Field({ label, hint, problem, children }: FieldProps): ReactElement {
  const id = useId();
  const note = problem ?? hint;
  const ids = {
    id,
    ...(note !== undefined && { 'aria-describedby': `${id}-note` }),
    ...(problem !== undefined && { 'aria-invalid': true as const }),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(ids)}
      {note !== undefined && (
        <p
          id={`${id}-note`}
          className={problem === undefined ? 'field-hint' : 'field-problem'}
          role={problem === undefined ? undefined : 'alert'}
        >
          {note}
        </p>
      )}
    </div>
  );
}

export function TextInput({ className = '', ...rest }: InputHTMLAttributes<HTMLInputElement>): ReactElement {
  return <input type="text" spellCheck={false} autoComplete="off" {...rest} className={`input ${className}`} />;
}

export function Select({ className = '', ...rest }: SelectHTMLAttributes<HTMLSelectElement>): ReactElement {
  return (
    <span className={`select ${className}`}>
      <select {...rest} />
      <Icon name="down" size={12} />
    </span>
  );
}

interface SearchProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  readonly label: string;
  onText(text: string): void;
}

export function SearchInput({ label, onText, ...rest }: SearchProps): ReactElement {
  return (
    <span className="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        spellCheck={false}
        autoComplete="off"
        aria-label={label}
        placeholder={label}
        data-search
        {...rest}
        onChange={({ target }) => onText(target.value)}
      />
    </span>
  );
}

interface Choice<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly choices: readonly Choice<T>[];
  readonly value: T;
  onChoose(value: T): void;
}

/** Tabs: the arrow keys move, and choose at once. */
export function Tabs<T extends string>({ label, choices, value, onChoose }: TabsProps<T>): ReactElement {
  const move = (step: number): void => {
    const at = choices.findIndex((choice) => choice.value === value);
    const next = choices[(at + step + choices.length) % choices.length];
    if (next !== undefined) onChoose(next.value);
  };
  return (
    <div
      className="tabs"
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        move(step);
        const list = event.currentTarget;
        requestAnimationFrame(() => list.querySelector<HTMLElement>('[aria-selected=true]')?.focus());
      }}
    >
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          role="tab"
          aria-selected={choice.value === value}
          tabIndex={choice.value === value ? 0 : -1}
          onClick={() => onChoose(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

/** A key as it is printed on a keyboard. */
export function Key({ children }: { readonly children: string }): ReactElement {
  return <kbd className="key">{children}</kbd>;
}

export function Badge({
  children,
  kind = 'plain',
}: {
  readonly children: ReactNode;
  readonly kind?: 'plain' | 'past' | 'accent' | 'warning';
}): ReactElement {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}
