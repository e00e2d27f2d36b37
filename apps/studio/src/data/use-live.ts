/** Live updates for components. */
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { type Connection, type Interest, type Listener, LiveUpdates } from './live.ts';

function openSocket(): WebSocket {
  const url = new URL('/api/v1/live', globalThis.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new WebSocket(url);
}

export const live = new LiveUpdates(openSocket);

globalThis.addEventListener?.('online', () => live.retryNow());

export function useConnection(): Connection {
  return useSyncExternalStore(
    (watcher) => live.watch(watcher),
    () => live.connection,
  );
}

/** Subscribes while the component is shown; null: not now. */
export function useLive(interest: Interest | null, listener: Listener): void {
  const key = interest === null ? null : JSON.stringify(interest);
  const onEvents = useEffectEvent<NonNullable<Listener['onEvents']>>((events) => listener.onEvents?.(events));
  const onLines = useEffectEvent<NonNullable<Listener['onLines']>>((lines) => listener.onLines?.(lines));
  const onProgress = useEffectEvent<NonNullable<Listener['onProgress']>>((progress) => listener.onProgress?.(progress));
  const onGap = useEffectEvent(() => listener.onGap?.());
  const onEnd = useEffectEvent(() => listener.onEnd?.());
  useEffect(() => {
    if (key === null) return;
    return live.subscribe(JSON.parse(key) as Interest, { onEvents, onLines, onProgress, onGap, onEnd });
  }, [key]);
}
