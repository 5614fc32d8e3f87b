import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreOpenError } from '../store.ts'

/** Another process, or another part of this one, holds the directory. */
export class DirectoryInUse extends Error {
  readonly pid: number
  constructor(pid: number) {
    super(`in use by process ${pid}`)
    this.pid = pid
  }
}

const prefix = 'owner-'
// sun_path holds 104 bytes on macOS and 108 on Linux, with a zero at the end.
const maxSocketPath = 103
const startingTogetherMs = 1000
const nobodyListens = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']

/** Makes a data directory if there is none, and locks it. Throws a StoreOpenError that names it and the process that has it. */
export async function ownDataDirectory(dir: string): Promise<() => Promise<void>> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return lockDirectory(dir).catch((error: unknown) => {
    throw error instanceof DirectoryInUse ? new StoreOpenError('InUse', `the data directory ${dir} is in use by process ${error.pid}`) : error
  })
}

/**
 * Makes this process the only owner of a directory until the returned function is called or the process ends, however it
 * ends. Throws DirectoryInUse.
 *
 * The lock is a listening socket in the directory: the kernel says whether anybody listens behind it, so neither a killed
 * owner's leftovers nor a reused pid can be mistaken for an owner, and it works between containers that share the
 * directory. Everybody binds a name of its own first and then looks at the others; names never come back, so a dead one
 * can be removed without a race. Of two that look at the same time at least one sees the other: the older name wins.
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

async function outlast(dir: string, name: string): Promise<void> {
  const giveUp = Date.now() + startingTogetherMs
  for (;;) {
    const others = await liveOthers(dir, name)
    if (others.length === 0) return
    // A younger one that does not withdraw was the owner before our clock was set back.
    const winner = others.find((other) => other < name) ?? (Date.now() > giveUp ? others[0] : undefined)
    if (winner) throw new DirectoryInUse(Number(winner.split('-')[2]))
    await delay(10)
  }
}

async function liveOthers(dir: string, name: string): Promise<string[]> {
  const live: string[] = []
  for (const other of readdirSync(dir).filter((entry) => entry.startsWith(prefix) && entry !== name).sort()) {
    if (await isListening(dir, other)) live.push(other)
    else rmSync(join(dir, other), { force: true })
  }
  return live
}

function listen(dir: string, name: string): Promise<Server> {
  return withShortPath(dir, name, (path) => {
    const server = createServer((connection) => connection.destroy())
    server.unref()
    return new Promise((done, failed) => server.once('error', failed).listen(path, () => done(server)))
  })
}

function isListening(dir: string, name: string): Promise<boolean> {
  return withShortPath(dir, name, (path) => {
    const socket = connect(path)
    return new Promise((answer) => {
      socket.once('connect', () => {
        socket.destroy()
        answer(true)
      })
      // Anything but a clear no counts as a yes: an owner that is stopped or overwhelmed is still the owner.
      socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => answer(!nobodyListens.includes(code)))
    })
  })
}

/** Node cuts off a socket path that is too long; a link to the directory makes it short. */
async function withShortPath<T>(dir: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = join(dir, name)
  if (Buffer.byteLength(path) <= maxSocketPath) return use(path)
  const temporary = mkdtempSync(join(tmpdir(), 'cox-'))
  try {
    const link = join(temporary, 'd')
    symlinkSync(resolve(dir), link)
    return await use(join(link, name))
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
