/** The pages of a server whose Studio is being built, or could not be built. */

const STYLE = `:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:15px/1.6 system-ui,sans-serif;color:light-dark(#1b1f27,#e6e9ef);background:light-dark(#fbfaf8,#0e1116)}
main{max-width:30rem;padding:2rem;text-align:center}h1{font-size:1.25rem;font-weight:600;margin:1rem 0 .25rem}
p{margin:.25rem 0;color:light-dark(#5a6270,#9aa3b2)}a{color:light-dark(#0072b2,#4da3ff)}
code{font:.9em ui-monospace,monospace}
i{display:inline-block;width:1.5rem;height:1.5rem;border:2px solid light-dark(#d8d5cf,#2a303a);border-top-color:light-dark(#0072b2,#4da3ff);border-radius:50%;animation:turn 1.6s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}@media(prefers-reduced-motion:reduce){i{animation:none}}`;

/** Asks until the build has ended, and then loads the page again: a fragment of its address (a code) stays. */
const RELOAD = `const look = async () => {
  try {
    const { headers } = await fetch(location.pathname, { method: 'HEAD', headers: { accept: 'text/html' } });
    if (headers.get('x-nebula-studio') !== 'building') return location.reload();
  } catch {}
  setTimeout(look, 250);
};
look();`;

export function buildingPage(nonce: string): string {
  return page(
    nonce,
    'Building the Studio',
    `<i></i><h1 role="status">Building the Studio…</h1>
<p>This takes a few seconds, once after each update. The page opens by itself.</p>
<p>The API works already: <a href="/api/docs">API reference</a></p>
<noscript><p>The Studio needs JavaScript.</p></noscript>
<script nonce="${nonce}">${RELOAD}</script>`,
  );
}

export function failedPage(nonce: string): string {
  return page(
    nonce,
    'The Studio could not be built',
    `<h1>The Studio could not be built</h1>
<p>The output of the server says why. Restart the server to try again.</p>
<p>Everything else works: <a href="/api/docs">API reference</a></p>`,
  );
}

function page(nonce: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><link rel="icon" href="data:,"><style nonce="${nonce}">${STYLE}</style></head>
<body><main>${body}</main></body></html>
`;
}
