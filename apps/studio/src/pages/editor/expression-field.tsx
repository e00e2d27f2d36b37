/** A field for a value or an expression: what is wrong is said while one types, and the value in the last run is shown. */
import type { Json } from '@nebula/core';
import { type ReactElement, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { expressionProblem, type FieldKind, textOf, valueOfText } from '../../editor/parameter-fields.ts';
import type { CompletionItem } from '../../language/completion-item.ts';
import { completeExpression, type ExpressionFacts } from '../../language/expression-completion.ts';
import { evaluateSite } from '../../language/hovering.ts';
import { previewText } from '../../language/value-types.ts';
import { useText } from '../../text/use-text.ts';
import { Select } from '../../ui/controls.tsx';
import { editorText } from './editor-text.ts';

/** The text changes this long after the last key. */
const COMMIT_MS = 300;

/** What a list of choices becomes when an expression is to be written instead. */
const BLANK_EXPRESSION = '{{  }}';
const WRITE = 'write-an-expression';

interface ExpressionFieldProps {
  readonly label: string;
  readonly type?: string;
  readonly isRequired?: boolean;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly kind: FieldKind;
  readonly choices?: readonly string[];
  /** The whole text is an expression, without braces. */
  readonly isBare?: boolean;
  readonly value: Json | undefined;
  readonly facts: ExpressionFacts;
  readonly isDisabled?: boolean;
  onValue(value: Json | undefined): void;
}

export function ExpressionField(props: ExpressionFieldProps): ReactElement {
  const {
    label,
    type,
    isRequired = false,
    hint,
    placeholder = '',
    kind,
    choices = [],
    isBare = false,
    value,
    isDisabled = false,
    onValue,
  } = props;
  const { inspector: words } = useText(editorText);
  const id = useId();
  const shown = textOf(kind, value);
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const text = typed ?? shown;
  const read = valueOfText(kind, text);
  const isExpression = isBare || (text.includes('{{') && 'value' in read && typeof read.value === 'string');
  const isBlank = text === BLANK_EXPRESSION;
  const broken = isExpression && !isBlank ? expressionProblem(text, isBare) : undefined;
  const problem = 'problem' in read ? words.fieldProblems[read.problem] : broken?.message;
  const preview = isExpression && !isBlank && broken === undefined ? previewOf(text, props) : undefined;
  const commit = (next: string): void => {
    clearTimeout(timer.current);
    const result = valueOfText(kind, next);
    if ('problem' in result || next === shown || next === BLANK_EXPRESSION) return;
    onValue(result.value);
  };
  const change = (next: string): void => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => commit(next), COMMIT_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const described = problem !== undefined || hint !== undefined;
  return (
    <div className="parameter">
      <label htmlFor={id}>
        <span className="parameter-name">{label}</span>
        {type !== undefined && <span className="parameter-type">{type}</span>}
        {isRequired && <span className="parameter-required">{words.required}</span>}
      </label>
      {(kind === 'choice' || kind === 'boolean') && !isExpression ? (
        <Select
          id={id}
          disabled={isDisabled}
          value={text}
          aria-describedby={described ? `${id}-note` : undefined}
          onChange={({ target }) => (target.value === WRITE ? setTyped(BLANK_EXPRESSION) : commit(target.value))}
        >
          <option value="">{placeholder === '' ? words.none : `${words.none} · ${placeholder}`}</option>
          {(kind === 'boolean' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
          <option value={WRITE}>{words.writeExpression}</option>
        </Select>
      ) : (
        <CompletingText
          id={id}
          text={text}
          placeholder={placeholder}
          isCode={isExpression || kind === 'json'}
          isInvalid={problem !== undefined}
          isDisabled={isDisabled}
          isBare={isBare}
          isBegun={isBlank}
          describedBy={described ? `${id}-note` : undefined}
          facts={props.facts}
          onChange={change}
          onDone={(next) => {
            commit(next);
            setTyped(undefined);
          }}
        />
      )}
      {preview !== undefined && (
        <output className={preview.isError ? 'parameter-preview parameter-preview-error' : 'parameter-preview'}>
          {preview.text}
        </output>
      )}
      {problem !== undefined ? (
        <p id={`${id}-note`} className="field-problem" role="alert">
          {problem}
          {broken?.hint !== undefined && ` · ${broken.hint}`}
        </p>
      ) : (
        hint !== undefined && (
          <p id={`${id}-note`} className="field-hint">
            {hint}
          </p>
        )
      )}
    </div>
  );
}

function previewOf(
  text: string,
  { facts, isBare = false }: ExpressionFieldProps,
): { text: string; isError: boolean } | undefined {
  if (facts.run === undefined || text.trim() === '') return undefined;
  const result = evaluateSite(
    { path: [], text, kind: isBare ? 'bare' : 'template' },
    facts.data,
    facts.run,
    facts.place,
  );
  if (result === undefined) return undefined;
  return 'error' in result
    ? { text: `⚠ ${result.error}`, isError: true }
    : { text: `= ${previewText(result.value)}`, isError: false };
}

interface CompletingTextProps {
  readonly id: string;
  readonly text: string;
  readonly placeholder: string;
  readonly isCode: boolean;
  readonly isInvalid: boolean;
  readonly isDisabled: boolean;
  readonly isBare: boolean;
  /** The expression is to be written now: the cursor is between its braces. */
  readonly isBegun: boolean;
  readonly describedBy: string | undefined;
  readonly facts: ExpressionFacts;
  onChange(text: string): void;
  onDone(text: string): void;
}

interface Offer {
  readonly typed: string;
  readonly items: readonly CompletionItem[];
}

const MAX_OFFERED = 50;

/** A text field with a list of names while an expression is typed. */
function CompletingText(props: CompletingTextProps): ReactElement {
  const {
    id,
    text,
    placeholder,
    isCode,
    isInvalid,
    isDisabled,
    isBare,
    isBegun,
    describedBy,
    facts,
    onChange,
    onDone,
  } = props;
  const [offer, setOffer] = useState<Offer>();
  const [active, setActive] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  /** Where the cursor goes once the chosen name is in the field. */
  const cursorAfter = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (cursorAfter.current === undefined) return;
    field.current?.setSelectionRange(cursorAfter.current, cursorAfter.current);
    cursorAfter.current = undefined;
  });
  useEffect(() => {
    if (!isBegun) return;
    field.current?.focus();
    field.current?.setSelectionRange(3, 3);
  }, [isBegun]);
  const list = `${id}-list`;
  const look = (next: string, cursor: number): void => {
    const before = expressionBefore(next.slice(0, cursor), isBare);
    const found = before === undefined ? undefined : completeExpression(before, facts);
    const items = (found?.items ?? []).filter(({ label }) =>
      label.toLowerCase().startsWith((found?.typed ?? '').toLowerCase()),
    );
    setOffer(
      found === undefined || items.length === 0 || !/[$.]\w*$/.test(next.slice(0, cursor))
        ? undefined
        : { typed: found.typed, items: items.slice(0, MAX_OFFERED) },
    );
    setActive(0);
  };
  const take = (item: CompletionItem): void => {
    const element = field.current;
    if (element === null || offer === undefined) return;
    const cursor = element.selectionStart;
    const start = cursor - offer.typed.length;
    const insert = item.apply ?? item.label;
    const next = text.slice(0, start) + insert + text.slice(cursor);
    onChange(next);
    setOffer(undefined);
    cursorAfter.current = start + insert.length;
  };
  return (
    <div className="completing">
      <textarea
        ref={field}
        id={id}
        className={isCode ? 'textarea parameter-code' : 'textarea parameter-text'}
        rows={Math.min(8, Math.max(1, text.split('\n').length, Math.ceil(text.length / 44)))}
        spellCheck={false}
        disabled={isDisabled}
        placeholder={placeholder}
        aria-invalid={isInvalid || undefined}
        aria-describedby={describedBy}
        aria-autocomplete="list"
        aria-controls={offer === undefined ? undefined : list}
        aria-activedescendant={offer === undefined ? undefined : `${list}-${active}`}
        value={text}
        onChange={({ target }) => {
          onChange(target.value);
          look(target.value, target.selectionStart);
        }}
        onBlur={() => {
          setOffer(undefined);
          onDone(text);
        }}
        onKeyDown={(event) => {
          if (offer === undefined) {
            if (event.key === 'Enter' && !event.shiftKey && !text.includes('\n')) {
              event.preventDefault();
              event.currentTarget.blur();
            }
            return;
          }
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          const item = offer.items[active];
          if (step !== 0) setActive((active + step + offer.items.length) % offer.items.length);
          else if ((event.key === 'Enter' || event.key === 'Tab') && item !== undefined) take(item);
          else if (event.key === 'Escape') setOffer(undefined);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {offer !== undefined && (
        <div id={list} role="listbox" aria-label={id} className="completing-list">
          {offer.items.map((item, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus and the keys.
            <div
              key={item.label}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === active}
              title={item.doc}
              ref={index === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
              onPointerDown={(event) => {
                event.preventDefault();
                take(item);
              }}
            >
              <span className="mono">{item.label}</span>
              <span className="completing-type truncate">
                {item.value === undefined ? item.detail : `${item.detail} = ${item.value}`}
              </span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function expressionBefore(before: string, isBare: boolean): string | undefined {
  const open = before.lastIndexOf('{{');
  if (open !== -1 && !before.slice(open).includes('}}')) return before.slice(open + 2);
  return isBare ? before : undefined;
}
