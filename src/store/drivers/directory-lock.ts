import { readdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connectInDirectory, listenInDirectory } from '../../base/directory-socket.ts'
import { makeDirectory } from '../../base/durable-files.ts'
import { StoreOpenError } from '../store.ts'

/** Thrown when another process, or another part of this one, holds the lock of the directory. */
export class DirectoryInUse extends Error {
  readonly pid: number
  constructor(pid: number) {
    super(`in use by process ${pid}`)
    this.pid = pid
  }
}

const prefix = 'owner-'
const startingTogetherMs = 1000

/**
 * Creates a data directory if it does not exist, and locks it. Throws a StoreOpenError that names the directory and the
 * process that holds it.
 */
export async function ownDataDirectory(dir: string): Promise<() => Promise<void>> {
  makeDirectory(dir)
  return lockDirectory(dir).catch((error: unknown) => {
    throw error instanceof DirectoryInUse
      ? new StoreOpenError('InUse', `the data directory ${dir} is in use by process ${error.pid}`)
      : error
  })
}

/**
 * Makes this process the only owner of a directory until the returned function is called or the process ends, for any
 * reason. Throws DirectoryInUse. The lock is a listening socket in the directory. The kernel knows whether a process
 * listens on it, so neither the socket file of a killed owner nor a reused pid counts as an owner, and the lock works
 * between containers that share the directory. Every process first binds a socket with a unique name and then checks
 * the others. Names are never reused, so a dead socket can be removed without a race. If two processes check at the
 * same time, at least one sees the other, and the older name wins.
 */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const name = `${prefix}${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  const server = await listen(dir, name)
  const release = async (): Promise<void> => {
    rmSync(join(dir, name), { force: true })
    await new Promise((done) => server.close(done))
  }
  try {
    await outlast(dir, name)
  } catch (error) {
    await release()
    throw error
  }
  return release
}

/** Returns the pid of the process that owns a directory; undefined if none does. */
export async function directoryOwner(dir: string): Promise<number | undefined> {
  for (const name of lockNames(dir)) if (await isListening(dir, name)) return pidIn(name)
  return undefined
}

const lockNames = (dir: string): string[] =>
  readdirSync(dir)
    .filter((entry) => entry.startsWith(prefix))
    .sort()

const pidIn = (name: string): number => Number(name.split('-')[2])

async function outlast(dir: string, name: string): Promise<void> {
  const giveUp = Date.now() + startingTogetherMs
  for (;;) {
    const others = await liveOthers(dir, name)
    if (others.length === 0) return
    // A younger socket that stays open belonged to the owner before the clock was set back.
    const winner = others.find((other) => other < name) ?? (Date.now() > giveUp ? others[0] : undefined)
    if (winner) throw new DirectoryInUse(pidIn(winner))
    await delay(10)
  }
}

async function liveOthers(dir: string, name: string): Promise<string[]> {
  const live: string[] = []
  for (const other of lockNames(dir).filter((entry) => entry !== name)) {
    if (await isListening(dir, other)) live.push(other)
    else rmSync(join(dir, other), { force: true })
  }
  return live
}

const listen = (dir: string, name: string): Promise<Server> =>
  listenInDirectory(dir, name, (connection) => connection.destroy())

/** Returns true unless the connection is refused: a process that is stopped or overloaded is still the owner. */
async function isListening(dir: string, name: string): Promise<boolean> {
  const socket = await connectInDirectory(dir, name).catch(() => 'unclear' as const)
  if (typeof socket === 'object') socket.destroy()
  return socket !== undefined
}
