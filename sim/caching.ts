/** Workflows whose outputs are cached: the same work in two projects, which share nothing. */

const look = { action: 'look@1', with: { of: '{{ $input.text }}' }, cache: { version: '1' } };
const nodes = {
  a: look,
  b: { ...look, action: 'work@1', needs: ['a'], cache: { version: '1', ttl: '40s' } },
};

export const CACHING_DEFINITIONS = [
  { id: 'caching', nodes },
  { id: 'foreign', nodes },
] as const;
