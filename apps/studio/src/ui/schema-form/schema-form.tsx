/** A form drawn from a JSON Schema, with a view as JSON text for what the fields cannot say. */
import { type ReactElement, useMemo, useState } from 'react';
import { defineText } from '../../text/define-text.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, Select, TextInput } from '../controls.tsx';
import { type FieldProblem, type FormField, fieldsOf, formValue, readJson, type Typed, typedFrom } from './fields.ts';
import './schema-form.css';

const text = defineText({
  en: {
    json: 'Edit as JSON',
    form: 'Edit as a form',
    value: 'Value as JSON',
    none: '(none)',
    problems: {
      missing: 'A value is needed here.',
      'not-a-number': 'This is not a number.',
      'not-an-integer': 'This is not a whole number.',
      'not-json': 'This is not valid JSON.',
    },
  },
  de: {
    json: 'Als JSON bearbeiten',
    form: 'Als Formular bearbeiten',
    value: 'Wert als JSON',
    none: '(keiner)',
    problems: {
      missing: 'Hier fehlt ein Wert.',
      'not-a-number': 'Das ist keine Zahl.',
      'not-an-integer': 'Das ist keine ganze Zahl.',
      'not-json': 'Das ist kein gültiges JSON.',
    },
  },
});

export interface SchemaFormState {
  readonly element: ReactElement;
  /** The value; undefined if something is wrong, which the form then shows. */
  read(): { readonly value: unknown } | undefined;
}

/** A form and its state. `initial` is read once. */
export function useSchemaForm(schema: unknown, initial?: unknown): SchemaFormState {
  const words = useText(text);
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [typed, setTyped] = useState<Typed>(() => typedFrom(fields ?? [], initial));
  const [json, setJson] = useState<string | undefined>(() =>
    fields === undefined ? JSON.stringify(initial ?? null, null, 2) : undefined,
  );
  const [problems, setProblems] = useState<Readonly<Record<string, FieldProblem>>>({});
  const read = (): { readonly value: unknown } | undefined => {
    if (json !== undefined || fields === undefined) {
      const value = readJson(json ?? '');
      setProblems('problem' in value ? { '': value.problem } : {});
      return 'problem' in value ? undefined : value;
    }
    const result = formValue(fields, typed);
    setProblems(result.ok ? {} : result.problems);
    return result.ok ? { value: result.value } : undefined;
  };
  const problemOf = (name: string): string | undefined => {
    const problem = problems[name];
    return problem && words.problems[problem];
  };
  const toJson = (): void => {
    const result = formValue(fields ?? [], typed);
    setJson(JSON.stringify(result.ok ? result.value : {}, null, 2));
  };
  const toForm = (): void => {
    const value = readJson(json ?? '');
    if ('problem' in value) return setProblems({ '': value.problem });
    setTyped(typedFrom(fields ?? [], value.value));
    setJson(undefined);
  };
  const element = (
    <div className="schema-form">
      {json === undefined && fields !== undefined ? (
        fields.map((field) => (
          <FormRow
            key={field.name}
            field={field}
            value={typed[field.name]}
            problem={problemOf(field.name)}
            onChange={(value) => setTyped({ ...typed, [field.name]: value })}
          />
        ))
      ) : (
        <Field label={words.value} problem={problemOf('')}>
          {(ids) => (
            <textarea
              {...ids}
              className="textarea"
              rows={8}
              spellCheck={false}
              value={json}
              onChange={({ target }) => setJson(target.value)}
            />
          )}
        </Field>
      )}
      {fields !== undefined && (
        <Button kind="quiet" className="schema-form-switch" onClick={json === undefined ? toJson : toForm}>
          {json === undefined ? words.json : words.form}
        </Button>
      )}
    </div>
  );
  return { element, read };
}

interface FormRowProps {
  readonly field: FormField;
  readonly value: string | boolean | undefined;
  readonly problem: string | undefined;
  onChange(value: string | boolean): void;
}

function FormRow({ field, value, problem, onChange }: FormRowProps): ReactElement {
  const words = useText(text);
  const { label, description, kind, isRequired, choices } = field;
  if (kind === 'boolean') {
    return (
      <label className="check-row">
        <input type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
        {label}
        {description !== undefined && <span className="muted">{description}</span>}
      </label>
    );
  }
  const shown = typeof value === 'string' ? value : '';
  return (
    <Field label={isRequired ? `${label} *` : label} hint={description} problem={problem}>
      {(ids) =>
        kind === 'choice' ? (
          <Select {...ids} value={shown} onChange={({ target }) => onChange(target.value)}>
            <option value="">{words.none}</option>
            {choices.map((choice, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: choices of a schema do not move.
              <option key={index} value={String(index)}>
                {typeof choice === 'string' ? choice : JSON.stringify(choice)}
              </option>
            ))}
          </Select>
        ) : kind === 'json' || kind === 'long-text' ? (
          <textarea
            {...ids}
            className="textarea"
            rows={kind === 'json' ? 4 : 3}
            spellCheck={kind !== 'json'}
            value={shown}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <TextInput
            {...ids}
            inputMode={kind === 'text' ? 'text' : 'decimal'}
            value={shown}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  );
}
