/** Short messages at the edge of the page: what was done, and what failed. */
export type NewNotice =
  | { readonly kind: 'done'; readonly message: string }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string; readonly hint: string | undefined };

export type Notice = NewNotice & { readonly id: number };

const DONE_MS = 5_000;
const FAILURE_MS = 15_000;
const MAX_NOTICES = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function notify(notice: NewNotice): void {
  const id = ++lastId;
  change([...notices.slice(1 - MAX_NOTICES), { ...notice, id }]);
  setTimeout(() => dismiss(id), notice.kind === 'done' ? DONE_MS : FAILURE_MS);
}

export function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

export function currentNotices(): readonly Notice[] {
  return notices;
}

export function watchNotices(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}
