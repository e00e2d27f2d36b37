import { createRoot } from 'react-dom/client';
import '@fontsource-variable/ibm-plex-sans/index.css';
import '@fontsource/ibm-plex-mono/400.css';

const host = document.getElementById('studio');
if (host !== null) createRoot(host).render(<main>Studio</main>);
