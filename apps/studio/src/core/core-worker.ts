postMessage('ready');
