import { createRoot } from 'react-dom/client';
import '@fontsource-variable/ibm-plex-sans/index.css';
import '@fontsource/ibm-plex-mono/400.css';

const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
history.replaceState(null, '', location.pathname + location.search);
const headers = { 'content-type': 'application/json' };
const body = JSON.stringify({ code });
const signIn = code === undefined ? undefined : await fetch('/api/v1/sign-in', { method: 'POST', headers, body });
const { ok } = await fetch('/api/v1/me');
const workflows = ok ? await (await fetch('/api/v1/workflows')).text() : '';
const host = document.getElementById('studio');
if (host !== null) {
  createRoot(host).render(
    ok ? (
      <nav>Runs {workflows}</nav>
    ) : (
      <main>
        <h1>Sign in</h1>
        <p>npx nebula studio</p>
        {signIn !== undefined && <p role="alert">The code is wrong</p>}
        <button type="button">Sign in</button>
      </main>
    ),
  );
}
