import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { api, failureOf, setCsrfToken } from '../data/api.ts';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { Button, Field, TextInput } from '../ui/controls.tsx';
import { useTitle } from '../ui/page.tsx';
import { Logo } from './logo.tsx';
import './sign-in.css';

const text = defineText({
  en: {
    title: 'Sign in',
    user: 'User',
    password: 'Password',
    submit: 'Sign in',
    desktop: 'This Studio belongs to the person at this machine.',
    command: 'Run this command in the project folder, and open the address that it prints:',
    paste: 'Or paste the code here',
    refused: 'The link did not sign you in.',
  },
  de: {
    title: 'Anmelden',
    user: 'Benutzer',
    password: 'Passwort',
    submit: 'Anmelden',
    desktop: 'Dieses Studio gehört der Person an diesem Rechner.',
    command: 'Führen Sie diesen Befehl im Projektordner aus und öffnen Sie die Adresse, die er ausgibt:',
    paste: 'Oder fügen Sie den Code hier ein',
    refused: 'Der Link hat Sie nicht angemeldet.',
  },
});

interface SignInProps {
  readonly info: AnswerOf<'getInfo'>;
  readonly refused: string | undefined;
  onSignedIn(): void;
}

export function SignIn({ info, refused, onSignedIn }: SignInProps): ReactElement {
  const words = useText(text);
  useTitle(words.title);
  const [problem, setProblem] = useState(refused === undefined ? undefined : `${words.refused} ${refused}`);
  const attempt = async (sign: () => Promise<{ readonly csrfToken: string }>): Promise<void> => {
    try {
      setCsrfToken((await sign()).csrfToken);
      onSignedIn();
    } catch (error) {
      const { message, hint } = failureOf(error);
      setProblem(hint === undefined ? message : `${message} ${hint}`);
    }
  };
  return (
    <main className="sign-in">
      <div className="sign-in-panel">
        <Logo size={40} />
        <h1>Nebula</h1>
        {info.authentication === 'users' ? (
          <PasswordForm onSubmit={(user, password) => attempt(() => api.call('login', { body: { user, password } }))} />
        ) : (
          <CodeForm onSubmit={(code) => attempt(() => api.call('signIn', { body: { code } }))} />
        )}
        {problem !== undefined && (
          <p className="field-problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    </main>
  );
}

function PasswordForm({ onSubmit }: { onSubmit(user: string, password: string): Promise<void> }): ReactElement {
  const words = useText(text);
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        void onSubmit(user, password).finally(() => setBusy(false));
      }}
    >
      <Field label={words.user}>
        {(ids) => (
          <TextInput
            {...ids}
            required
            autoComplete="username"
            value={user}
            onChange={({ target }) => setUser(target.value)}
          />
        )}
      </Field>
      <Field label={words.password}>
        {(ids) => (
          <TextInput
            {...ids}
            type="password"
            required
            autoComplete="current-password"
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        )}
      </Field>
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {words.submit}
      </Button>
    </form>
  );
}

function CodeForm({ onSubmit }: { onSubmit(code: string): Promise<void> }): ReactElement {
  const words = useText(text);
  const [code, setCode] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit(code.trim().replace(/^.*#code=/, ''));
      }}
    >
      <p>{words.desktop}</p>
      <p className="muted">{words.command}</p>
      <pre className="command">npx nebula studio</pre>
      <Field label={words.paste}>
        {(ids) => <TextInput {...ids} required value={code} onChange={({ target }) => setCode(target.value)} />}
      </Field>
      <Button kind="primary" type="submit">
        {words.submit}
      </Button>
    </form>
  );
}
