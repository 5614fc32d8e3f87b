import { readFileSync, readdirSync } from 'node:fs'

/** Fields of /proc/PID/stat. Unavailable on systems other than Linux. */
export interface ProcessStat {
  pid: number
  parent: number
  group: number
  session: number
  isZombie: boolean
  cpuTicks: number
  start: string
}

/** The kernel reports CPU times in units of 10 ms. */
export const nanosPerTick = 10_000_000

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended, or the system has no /proc.
    return undefined
  }
}

/** Returns undefined if the process does not exist. */
export function processStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The second field is the program's name in parentheses, which may contain any character.
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

/** True if the process with this start time is alive. Without /proc only its number is compared. */
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

/** Lists all processes. */
export function allProcesses(): ProcessStat[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processStat(Number(name)) ?? []) : []))
}

/** The resident memory of a process. */
export const residentBytes = (pid: number): number => sizesOf(pid, ['VmRSS'])

/** The private and shared memory of a process, without files, which the kernel can reclaim. */
export const heldBytes = (pid: number): number => sizesOf(pid, ['RssAnon', 'RssShmem'])

function sizesOf(pid: number, names: readonly string[]): number {
  const status = read(`/proc/${pid}/status`) ?? ''
  return names.reduce(
    (sum, name) => sum + Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024,
    0,
  )
}

/** A variable in the environment of a container's processes. It identifies processes that have left their session. */
export const containerIdVariable = 'COXSWAIN_CONTAINER_ID'

/** The processes of a container: those of its session, and those with its environment variable. */
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
 * The first process and the program of a container with its own namespaces. `pid` has created them, and its child waits
 * for the program.
 */
export function processesOfNamespace(pid: number): { first: number; program: number } {
  const all = allProcesses().filter(({ isZombie }) => !isZombie)
  const first = all.find(({ parent }) => parent === pid)?.pid ?? pid
  return { first, program: all.find(({ parent }) => parent === first)?.pid ?? first }
}

/** The boot id, which changes with each start of the machine. */
export function bootId(): string {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

/**
 * Sends a signal to a process, or with a negative number to a process group. Returns false if there is none. Never
 * signals all processes or its own group.
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
