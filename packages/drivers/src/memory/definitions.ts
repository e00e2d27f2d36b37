import type { Definitions } from '@nebula/ports';
import { byCodePoints } from '@nebula/ports/rows';
import type { OpenData } from './data.ts';

export function memoryDefinitions(open: OpenData): Definitions {
  return {
    async registerWorkflow(row) {
      const data = open.get();
      const versions = data.workflows.filter((other) => other.workflowId === row.workflowId);
      const same = versions.find((other) => other.hash === row.hash);
      if (same !== undefined) {
        if (same !== versions.at(-1)) {
          data.workflows = [...data.workflows.filter((other) => other !== same), same];
          open.wrote();
        }
        return { ok: true, version: same.version, created: false };
      }
      const version = row.version ?? 1 + Math.max(0, ...versions.map((other) => other.version));
      if (versions.some((other) => other.version === version)) return { ok: false, reason: 'version-taken' };
      data.workflows.push({ ...row, version });
      open.wrote();
      return { ok: true, version, created: true };
    },
    async workflowVersion(workflowId, version) {
      return open
        .get()
        .workflows.findLast(
          (row) => row.workflowId === workflowId && (version === undefined || row.version === version),
        );
    },
    async workflows({ after, limit }) {
      const byId = Map.groupBy(open.get().workflows, (row) => row.workflowId);
      return [...byId.entries()]
        .filter(([workflowId]) => after === undefined || byCodePoints(workflowId, after) > 0)
        .sort(([a], [b]) => byCodePoints(a, b))
        .slice(0, Math.max(0, limit))
        .map(([workflowId, rows]) => {
          const newest = rows.reduce((a, b) => (b.version > a.version ? b : a));
          return { workflowId, version: newest.version, versions: rows.length, createdAt: newest.createdAt };
        });
    },
    async workflowVersions(workflowId, { after = Number.POSITIVE_INFINITY, limit }) {
      return open
        .get()
        .workflows.filter((row) => row.workflowId === workflowId && row.version < after)
        .sort((a, b) => b.version - a.version)
        .slice(0, Math.max(0, limit))
        .map(({ definition: _, ...head }) => head);
    },
    async durations(workflowId) {
      return new Map(open.get().durations.get(workflowId));
    },
  };
}
