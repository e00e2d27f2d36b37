/** CPU time of this process and of a server with all its processes, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel tells times in hundredths of a second, whatever its own tick is. */
const TICK_MS = 10;

interface Process {
  readonly parent: number;
  /** CPU time of the process and of its ended children. */
  readonly ms: number;
}

/** NaN where there is no /proc to ask. */
export function cpuMs(serverPid: number | null): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + (serverPid === null ? 0 : treeMs(serverPid));
}

function treeMs(root: number): number {
  const processes = readProcesses();
  if (!processes.has(root)) return Number.NaN;
  let sum = 0;
  for (const pid of processes.keys()) if (isWithin(processes, pid, root)) sum += processes.get(pid)!.ms;
  return sum;
}

function isWithin(processes: ReadonlyMap<number, Process>, pid: number, root: number): boolean {
  for (let at = pid; processes.has(at); at = processes.get(at)!.parent) if (at === root) return true;
  return false;
}

function readProcesses(): Map<number, Process> {
  const found = new Map<number, Process>();
  for (const name of listProc()) {
    const stat = readStat(name);
    if (stat === null) continue;
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, endedUser, endedSystem] = rest.slice(9, 13).map(Number) as [number, number, number, number];
    found.set(Number(name), { parent: Number(parent), ms: (user + system + endedUser + endedSystem) * TICK_MS });
  }
  return found;
}

function listProc(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Null for a process that has just ended. */
function readStat(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
