/** The addresses of the Studio. Everything that a page shows is in its address, so that a link shows the same. */
export const PATHS = {
  runs: '/runs',
  run: '/r/:executionId',
  compare: '/compare',
  workflows: '/workflows',
  newWorkflow: '/w/new',
  workflow: '/w/:workflowId',
  editor: '/w/:workflowId/edit',
  inbox: '/inbox',
  schedules: '/schedules',
  fleet: '/fleet',
  overview: '/overview',
  credentials: '/credentials',
  audit: '/audit',
  settings: '/settings',
} as const;

export function runPath(executionId: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  return `/r/${encodeURIComponent(executionId)}${queryText(query)}`;
}

export function workflowPath(workflowId: string): string {
  return `/w/${encodeURIComponent(workflowId)}`;
}

export function editorPath(workflowId: string): string {
  return `${workflowPath(workflowId)}/edit`;
}

export function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
