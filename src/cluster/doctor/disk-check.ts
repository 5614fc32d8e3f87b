import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { type Check, type Finding, ok, problem, sizeText, warning } from './finding.ts'

const check = 'disk'

/** A commit needs little space, but a conversion to a new format may need as much as the store. */
const tooLittleBytes = 64 * 2 ** 20
const littleBytes = 2 ** 30
const syncs = 20
/** etcd's documentation asks for 10 ms. Every write waits for one sync or two. */
const slowSyncMs = 10
const tooSlowSyncMs = 100

/** `statfs` types of file systems that are unsuitable for a store. */
const fileSystems: Readonly<Record<number, { name: string; level: 'warning' | 'problem'; why: string }>> = {
  0x6969: { name: 'NFS', level: 'problem', why: 'memory maps and syncs over a network are not safe' },
  0xff534d42: { name: 'CIFS', level: 'problem', why: 'memory maps and syncs over a network are not safe' },
  0xfe534d42: { name: 'SMB', level: 'problem', why: 'memory maps and syncs over a network are not safe' },
  0x01021997: { name: '9p', level: 'problem', why: 'memory maps over it are not safe' },
  0x01021994: { name: 'tmpfs', level: 'warning', why: 'its content is lost when this machine restarts' },
  0x794c7630: { name: 'overlayfs', level: 'warning', why: 'its content is lost with its container' },
}

/** Checks the disk of the data directory: free space, writes, sync latency, and type of file system. */
export const checkDisk: Check = ({ dataDir, store, running }) => {
  const dir = existing(path.resolve(dataDir))
  const isThere = dir === path.resolve(dataDir)
  const keepsStore = (running?.status.store ?? store) === 'lmdb'
  return [...room(dir), ...(isThere ? writes(dir) : mayBeMade(dataDir, dir)), ...(keepsStore ? fileSystem(dir) : [])]
}

/** Returns the directory, or its nearest existing ancestor. */
function existing(dir: string): string {
  return existsSync(dir) ? dir : existing(path.dirname(dir))
}

function room(dir: string): Finding[] {
  const { bavail, bsize, blocks, ffree, files } = statfsSync(dir)
  const free = bavail * bsize
  const message = `${sizeText(free)} of ${sizeText(blocks * bsize)} are free for ${dir}`
  if (free < tooLittleBytes)
    return [
      problem(
        check,
        `${message}: writes are rejected once it is full`,
        'Free some space, or move the data directory to a larger disk',
      ),
    ]
  if (files > 0 && ffree === 0)
    return [
      problem(
        check,
        `cannot create a file in ${dir}: its file system has no free inodes`,
        'Remove files from that file system',
      ),
    ]
  if (free < littleBytes)
    return [warning(check, message, 'Free some space, or move the data directory to a larger disk')]
  return [ok(check, message)]
}

function mayBeMade(dataDir: string, above: string): Finding[] {
  try {
    accessSync(above, constants.W_OK)
    return []
  } catch (e) {
    return [
      problem(
        check,
        `cannot create ${dataDir}: ${(e as Error).message}`,
        'Use another --data-dir, or give this user write permission',
      ),
    ]
  }
}

function writes(dir: string): Finding[] {
  const file = path.join(dir, `.doctor-${process.pid}`)
  try {
    return [latency(dir, timeSyncs(file))]
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException
    const help =
      code === 'EROFS'
        ? 'Mount it writable; the kernel log may have the reason'
        : code === 'ENOSPC'
          ? 'Free some space'
          : 'Start as the user that owns the directory, or correct its permissions'
    return [problem(check, `${dir} is not writable: ${message}`, help)]
  } finally {
    rmSync(file, { force: true })
  }
}

/** Measures syncs of one page; returns the times in ascending order. */
function timeSyncs(file: string): number[] {
  const out = openSync(file, 'w', 0o600)
  try {
    const page = Buffer.alloc(4096)
    const times: number[] = []
    for (let i = 0; i < syncs; i++) {
      const start = performance.now()
      writeSync(out, page, 0, page.length, i * page.length)
      fsyncSync(out)
      times.push(performance.now() - start)
    }
    return times.sort((a, b) => a - b)
  } finally {
    closeSync(out)
  }
}

function latency(dir: string, times: readonly number[]): Finding {
  const median = times[times.length >> 1]!
  const message = `a sync takes ${median.toFixed(1)} ms, the longest of ${times.length} took ${times.at(-1)!.toFixed(1)} ms`
  const help = `Move ${dir} to a faster disk; every write waits for syncs`
  if (median > tooSlowSyncMs) return problem(check, message, help)
  return median > slowSyncMs ? warning(check, message, help) : ok(check, message)
}

function fileSystem(dir: string): Finding[] {
  const found = fileSystems[statfsSync(dir).type]
  if (!found) return []
  const { name, level, why } = found
  return [{ check, level, message: `${dir} is on ${name}: ${why}`, help: 'Use a --data-dir on a disk of this machine' }]
}
