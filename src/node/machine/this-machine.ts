import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { cpus, freemem, totalmem } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import type { Machine, Supply } from './machine.ts'

const nanosPerMilli = 1_000_000
const bytesPerKi = 1024

/** Reported for a resource that the system does not measure. */
const plenty: Supply = { capacity: 1, available: 1 }

/** The machine that this process runs on. `directory` is on the node's file system. */
export const thisMachine = (directory: string, clock: Clock): Machine => ({
  async look() {
    const disk = await statfs(directory)
    const atMs = clock.now()
    const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
    return {
      atMs,
      cpuNanos: busyMs * nanosPerMilli,
      memory: memory(),
      disk: { capacity: disk.blocks * disk.bsize, available: disk.bavail * disk.bsize },
      // Some file systems allocate inodes dynamically and report 0.
      inodes: disk.files > 0 ? { capacity: disk.files, available: disk.ffree } : plenty,
      pids: pids(),
    }
  },
})

function read(file: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // Some machines hide parts of /proc.
    return undefined
  }
}

/** Uses the available memory, because most of the used memory can be reclaimed. */
function memory(): Supply {
  const info = read('/proc/meminfo') ?? ''
  const bytes = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(info)
    return found ? Number(found[1]) * bytesPerKi : undefined
  }
  return { capacity: bytes('MemTotal') ?? totalmem(), available: bytes('MemAvailable') ?? freemem() }
}

/** Threads count as processes. */
function pids(): Supply {
  const running = /\/(\d+) /.exec(read('/proc/loadavg') ?? '')
  const limits = ['pid_max', 'threads-max']
    .map((name) => Number(read(`/proc/sys/kernel/${name}`) ?? NaN))
    .filter((n) => n > 0)
  if (!running || limits.length === 0) return plenty
  const capacity = Math.min(...limits)
  return { capacity, available: Math.max(0, capacity - Number(running[1])) }
}
