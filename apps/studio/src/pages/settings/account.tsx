import { type ReactElement, useState } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { failureOf } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Badge, Button, Field, TextInput } from '../../ui/controls.tsx';
import { settingsText } from './settings-text.ts';

const MIN_LENGTH = 12;

export function Account(): ReactElement {
  const words = useText(settingsText);
  const { me, info } = useStudio();
  return (
    <div className="settings-form">
      <dl className="facts">
        <dt>{words.signedInAs}</dt>
        <dd>
          <strong>{me.user}</strong> {me.admin && <Badge kind="accent">{words.admin}</Badge>}
        </dd>
        {Object.entries(me.roles).map(([project, role]) => (
          <div key={project}>
            <dt>{project === '*' ? words.allProjects : project}</dt>
            <dd>{words.roles[role]}</dd>
          </div>
        ))}
      </dl>
      {info.authentication === 'users' ? <OwnPassword /> : <p className="muted">{words.desktop}</p>}
    </div>
  );
}

function OwnPassword(): ReactElement {
  const words = useText(settingsText);
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const change = useChange('changeOwnPassword', {
    done: words.passwordChanged,
    isQuiet: true,
    onDone: () => {
      setCurrent('');
      setPassword('');
      setAgain('');
    },
  });
  const submit = (): void => {
    const found = {
      ...(current === '' && { current: words.missing }),
      ...(password.length < MIN_LENGTH && { password: words.passwordShort }),
      ...(password !== again && { again: words.passwordDiffers }),
    };
    setProblems(found);
    if (Object.keys(found).length === 0) change.mutate({ body: { current, password } });
  };
  const refused = change.isError ? failureOf(change.error).message : undefined;
  const fields = [
    {
      name: 'current',
      label: words.currentPassword,
      value: current,
      set: setCurrent,
      complete: 'current-password',
      problem: problems['current'] ?? refused,
    },
    {
      name: 'password',
      label: words.newPassword,
      value: password,
      set: setPassword,
      complete: 'new-password',
      problem: problems['password'],
      hint: words.passwordHint,
    },
    {
      name: 'again',
      label: words.repeatPassword,
      value: again,
      set: setAgain,
      complete: 'new-password',
      problem: problems['again'],
    },
  ];
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{words.ownPassword}</h2>
      {fields.map(({ name, label, value, set, complete, problem, hint }) => (
        <Field key={name} label={label} problem={problem} {...(hint !== undefined && { hint })}>
          {(ids) => (
            <TextInput
              {...ids}
              type="password"
              autoComplete={complete}
              value={value}
              onChange={({ target }) => set(target.value)}
            />
          )}
        </Field>
      ))}
      <div>
        <Button kind="primary" type="submit" isBusy={change.isPending}>
          {words.changePassword}
        </Button>
      </div>
    </form>
  );
}
