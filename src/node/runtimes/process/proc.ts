import { readFileSync, readdirSync } from 'node:fs'

/** What /proc says of a process. Off Linux nothing is known of any. */
export interface ProcessStat {
  pid: number
  parent: number
  group: number
  session: number
  isZombie: boolean
  cpuTicks: number
  start: string
}

/** Kernels give times to user space in hundredths of a second, whatever they count in. */
export const nanosPerTick = 10_000_000

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // Gone, or another system.
    return undefined
  }
}

/** Undefined for a process that is not there. */
export function processStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The second field is the program's name in brackets, which may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (n: number) => Number(fields[n - 3])
  return {
    pid,
    parent: number(4),
    group: number(5),
    session: number(6),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    cpuTicks: number(14) + number(15) + number(16) + number(17),
    start: fields[22 - 3] ?? '',
  }
}

/** Whether a process lives that started then. Without /proc its number has to do. */
export function isAlive(pid: number, start: string): boolean {
  if (pid <= 0) return false
  if (process.platform === 'linux') {
    const stat = processStat(pid)
    return stat !== undefined && !stat.isZombie && (start === '' || stat.start === start)
  }
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** All processes there are. */
export function allProcesses(): ProcessStat[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processStat(Number(name)) ?? []) : []))
}

/** How much memory of a process is in memory. */
export const residentBytes = (pid: number): number => sizesOf(pid, ['VmRSS'])

/** How much of it is its own: what it shares with the files of its programs can be thrown away at any time. */
export const heldBytes = (pid: number): number => sizesOf(pid, ['RssAnon', 'RssShmem'])

function sizesOf(pid: number, names: readonly string[]): number {
  const status = read(`/proc/${pid}/status`) ?? ''
  return names.reduce(
    (sum, name) => sum + Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024,
    0,
  )
}

/** What a process carries in its environment to show whose it is: those that leave their group are found by it. */
export const containerIdVariable = 'COXSWAIN_CONTAINER_ID'

/** The processes of a container: its session, and whoever has its mark. */
export function processesOf(containerId: string, pid: number): number[] {
  const mark = `${containerIdVariable}=${containerId}\0`
  return allProcesses()
    .filter(
      (p) =>
        !p.isZombie && ((pid > 0 && p.session === pid) || `${read(`/proc/${p.pid}/environ`) ?? ''}\0`.includes(mark)),
    )
    .map((p) => p.pid)
}

/**
 * The first process and the program of a container that has namespaces of its own: `pid` has made them, and its child
 * waits for the program in them.
 */
export function processesOfNamespace(pid: number): { first: number; program: number } {
  const all = allProcesses().filter(({ isZombie }) => !isZombie)
  const first = all.find(({ parent }) => parent === pid)?.pid ?? pid
  return { first, program: all.find(({ parent }) => parent === first)?.pid ?? first }
}

/** Another one after each start of the machine. */
export function bootId(): string {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

/**
 * Sends a signal to a process or, with a negative number, to a group; false where there is none. Never to everybody,
 * nor to the own group.
 */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  if (Math.abs(pid) <= 1) return false
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
