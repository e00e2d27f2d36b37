import { describe, expect, test } from 'vitest';
import { type Candidate, releaseProblems, withReleased, withVersion } from '../release/release.ts';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-16\n\n- New.\n\n## 0.1.0\n\n- First.\n';

const READY: Candidate = {
  manifests: {
    'package.json': { name: 'root', version: '0.2.0' },
    'packages/core/package.json': { name: '@nebula/core', version: '0.2.0', dependencies: { yaml: '^2.9.1' } },
    'packages/sdk/package.json': {
      name: '@nebula/sdk',
      version: '0.2.0',
      dependencies: { '@nebula/core': '0.2.0' },
    },
  },
  locked: { 'packages/core': '0.2.0', 'packages/sdk': '0.2.0' },
  changelog: CHANGELOG,
  changedFiles: [],
  tagged: undefined,
  head: 'abc',
};

describe('[PKG-8] a release is refused', () => {
  const problemsWith = (changes: Partial<Candidate>) => releaseProblems({ ...READY, ...changes });

  test('never when everything fits', () => {
    expect(releaseProblems(READY)).toEqual([]);
    expect(problemsWith({ tagged: 'abc' })).toEqual([]);
  });

  test('when versions differ', () => {
    const core = { name: '@nebula/core', version: '0.1.0' };
    const sdk = { name: '@nebula/sdk', version: '0.2.0', dependencies: { '@nebula/core': '0.1.0' } };
    const manifests = { ...READY.manifests, 'packages/core/package.json': core, 'packages/sdk/package.json': sdk };
    expect(problemsWith({ manifests })).toEqual([
      'packages/core/package.json has version 0.1.0, the root has 0.2.0',
      'packages/sdk/package.json depends on @nebula/core 0.1.0',
    ]);
    expect(problemsWith({ locked: { 'packages/sdk': '0.1.0' } })).toHaveLength(1);
  });

  test('when the changelog has no section for it, or has changes that are not released', () => {
    expect(problemsWith({ changelog: '# Changelog\n\n## 0.1.0\n\n- First.\n' })).toEqual([
      'CHANGELOG.md has no section "## 0.2.0" with text',
    ]);
    expect(problemsWith({ changelog: CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n- More.\n') })).toEqual([
      'CHANGELOG.md has unreleased changes',
    ]);
  });

  test('when files are not committed, or the tag is elsewhere', () => {
    expect(problemsWith({ changedFiles: [' M README.md'] })).toEqual(['not committed:  M README.md']);
    expect(problemsWith({ tagged: 'def' })).toEqual(['the tag v0.2.0 is on another commit: def']);
  });
});

describe('[PKG-9] a new version', () => {
  test('is set for a package and for its dependencies of this repository', () => {
    const manifest =
      '{\n  "name": "@nebula/sdk",\n  "version": "0.1.0",\n  "dependencies": {\n    "@nebula/core": "0.1.0",\n    "yaml": "0.1.0"\n  }\n}\n';
    expect(JSON.parse(withVersion(manifest, '0.2.0'))).toEqual({
      name: '@nebula/sdk',
      version: '0.2.0',
      dependencies: { '@nebula/core': '0.2.0', yaml: '0.1.0' },
    });
  });

  test('takes over the unreleased changes', () => {
    const changed = withReleased('# Changelog\n\n## Unreleased\n\n- New.\n', '0.2.0', '2026-11-16');
    expect(changed).toBe('# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-16\n\n- New.\n');
    expect(() => withReleased('# Changelog\n', '0.2.0', '2026-11-16')).toThrow('Unreleased');
  });
});
