/** Workflows that tests register. */

/** A workflow that ends at once, with its input. */
export const echo = (id = 'echo', more: object = {}) => ({
  id,
  nodes: { say: { action: 'core.noop' } },
  output: '{{ $input }}',
  ...more,
});

/** Waits for a person. */
export const approval = (id = 'approval', who?: readonly string[]) => ({
  id,
  nodes: { ask: { wait: { approval: { title: 'May it?', ...(who && { who }) } } } },
});

/** Waits for the signal `go`. */
export const waiting = (id = 'waiting') => ({ id, nodes: { hold: { wait: { signal: 'go' } } } });

export const callback = (id = 'callback') => ({ id, nodes: { hold: { wait: { callback: true } } } });

export const failing = (id = 'failing', more: object = {}) => ({
  id,
  nodes: { break: { action: 'core.fail', with: { code: 'BROKEN', message: 'as was asked for' } } },
  ...more,
});

/** Ends with a value that is too large to stay in the journal. */
export const large = (id = 'large') => ({
  id,
  nodes: { make: { action: 'core.set', with: { value: 'x'.repeat(80_000) } } },
  output: '{{ $nodes.make.output }}',
});

/** A workflow whose only node runs on a remote worker. */
export const remote = (id = 'remote') => ({
  id,
  nodes: { work: { action: 'far.work', labels: ['far'], credentials: { key: 'press' } } },
});

/** A workflow whose output may be cached. */
export const keeping = (id = 'keeping') => ({
  id,
  nodes: { make: { action: 'core.set', with: { value: 'kept' }, cache: { version: 1 } } },
});

/** Says a line, then ends. */
export const chatty = (id = 'chatty') => ({
  id,
  nodes: { say: { action: 'core.log', with: { message: 'on my way' } } },
});

/** Waits for the signal `go`, then logs the texts of `list`, one after the other. */
export const verbose = (id = 'verbose') => ({
  id,
  nodes: {
    hold: { wait: { signal: 'go' } },
    each: {
      needs: ['hold'],
      forEach: { in: '$input.list' },
      do: { nodes: { say: { action: 'core.log', with: { message: '{{ $item }}' } } } },
    },
  },
});

/** A workflow whose only node has an unknown outcome. */
export const unsure = (id = 'unsure') => ({
  id,
  nodes: {
    say: { action: 'core.fail', with: { kind: 'SYSTEM', details: { outcome: 'unknown' } }, effect: 'once' },
  },
});

export const looping = (id = 'looping') => ({
  id,
  nodes: { each: { forEach: { in: [1, 2, 3] }, do: { nodes: { say: { action: 'core.noop' } } } } },
});
