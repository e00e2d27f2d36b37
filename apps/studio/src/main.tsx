import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import '@fontsource-variable/ibm-plex-sans/index.css';
import '@fontsource/ibm-plex-mono/400.css';
import '@fontsource/ibm-plex-mono/600.css';
import './styles/tokens.css';
import './styles/base.css';

const host = document.getElementById('studio');
if (host !== null) createRoot(host).render(<App />);
