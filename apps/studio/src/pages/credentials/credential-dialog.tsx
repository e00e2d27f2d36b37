/** Stores a secret: one value, or several with names. */
import { type ReactElement, useState } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useChange } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, IconButton, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SegmentedFilter } from '../../ui/segmented-filter.tsx';
import { credentialsText } from './credentials-text.ts';

const MIN_LENGTH = 4;

interface Member {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

/** `name` is empty for a new one. */
export function CredentialDialog({ name: given, onClose }: { readonly name: string; onClose(): void }): ReactElement {
  const words = useText(credentialsText);
  const { project } = useStudio();
  const [name, setName] = useState(given);
  const [kind, setKind] = useState<'single' | 'several'>('single');
  const [value, setValue] = useState('');
  const [members, setMembers] = useState<readonly Member[]>([{ key: 0, name: '', value: '' }]);
  const [isShown, setShown] = useState(false);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const put = useChange('putSecret', { refreshes: ['listSecrets'], done: words.saved, onDone: onClose });
  const type = isShown ? 'text' : 'password';
  const submit = (): void => {
    const isLacking =
      kind === 'single'
        ? value.length < MIN_LENGTH
        : members.some((member) => member.name === '' || member.value === '');
    const found = {
      ...(name === '' && { name: words.missing }),
      ...(isLacking && { value: kind === 'single' ? words.short : words.missing }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    const stored = kind === 'single' ? value : Object.fromEntries(members.map((member) => [member.name, member.value]));
    put.mutate({ params: { name }, query: { project }, body: { value: stored } });
  };
  return (
    <Dialog
      title={given === '' ? words.create : words.replaceTitle(given)}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{words.notNow}</Button>
          <Button kind="primary" type="submit" isBusy={put.isPending}>
            {words.save}
          </Button>
        </>
      }
    >
      {given === '' && (
        <Field label={words.name} hint={words.nameHint} problem={problems['name']}>
          {(ids) => (
            <TextInput {...ids} className="mono" value={name} onChange={({ target }) => setName(target.value.trim())} />
          )}
        </Field>
      )}
      <SegmentedFilter<'single' | 'several'>
        label={words.kind}
        value={kind}
        onChoose={(chosen) => setKind(chosen)}
        choices={[
          { value: 'single', label: words.single },
          { value: 'several', label: words.several },
        ]}
      />
      {kind === 'single' ? (
        <Field label={words.value} hint={words.valueHint} problem={problems['value']}>
          {(ids) => (
            <TextInput
              {...ids}
              type={type}
              autoComplete="new-password"
              className="mono"
              value={value}
              onChange={({ target }) => setValue(target.value)}
            />
          )}
        </Field>
      ) : (
        <Members members={members} type={type} problem={problems['value']} onChange={setMembers} />
      )}
      <label className="check-row">
        <input type="checkbox" checked={isShown} onChange={({ target }) => setShown(target.checked)} />
        {words.show}
      </label>
    </Dialog>
  );
}

interface MembersProps {
  readonly members: readonly Member[];
  readonly type: 'text' | 'password';
  readonly problem: string | undefined;
  onChange(members: readonly Member[]): void;
}

function Members({ members, type, problem, onChange }: MembersProps): ReactElement {
  const words = useText(credentialsText);
  const edit = (key: number, change: Partial<Member>): void =>
    onChange(members.map((member) => (member.key === key ? { ...member, ...change } : member)));
  return (
    <div className="members">
      {members.map(({ key, name, value }) => (
        <div key={key} className="member">
          <TextInput
            aria-label={words.member}
            placeholder={words.member}
            className="mono"
            value={name}
            onChange={({ target }) => edit(key, { name: target.value.trim() })}
          />
          <TextInput
            aria-label={`${words.value} ${name}`}
            placeholder={words.value}
            type={type}
            autoComplete="new-password"
            className="mono"
            value={value}
            onChange={({ target }) => edit(key, { value: target.value })}
          />
          <IconButton
            icon="close"
            label={words.removeMember(name)}
            disabled={members.length === 1}
            onClick={() => onChange(members.filter((member) => member.key !== key))}
          />
        </div>
      ))}
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <Button
        kind="quiet"
        icon="plus"
        onClick={() =>
          onChange([...members, { key: Math.max(...members.map(({ key }) => key)) + 1, name: '', value: '' }])
        }
      >
        {words.addMember}
      </Button>
    </div>
  );
}
