import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { connectInDirectory, listenInDirectory } from '../../base/directory-socket.ts'
import { linesOf } from '../../base/lines.ts'

/**
 * A Unix socket in the data directory, for commands of the same user to the process that serves it. It exposes
 * everything that is stored: a user who can open the socket can also read the files next to it.
 *
 * A request is one line with a name. The response has one JSON value per line; the last one is an End.
 */
type End = { end: true } | { error: string }

/** Handles a request. Yields the lines of the response, each a JSON text. */
export type Answer = () => AsyncIterable<string>

const prefix = 'server-'
const longestQuestion = 100
/** The time limit for a response. A stopped process accepts connections and never responds. */
const silenceMs = 30_000

const runDir = (dataDir: string): string => path.join(dataDir, 'run')

/** Serves requests until the returned function is called. */
export async function openLocalDoor(
  dataDir: string,
  answers: Readonly<Record<string, Answer>>,
): Promise<() => Promise<void>> {
  const dir = runDir(dataDir)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  chmodSync(dir, 0o700)
  await removeDead(dir)
  const name = `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`
  const open = new Set<Socket>()
  const server = await listenInDirectory(dir, name, (socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy()) // the client disconnected
    socket.once('close', () => open.delete(socket))
    void serveOne(socket, answers)
  })
  return async () => {
    rmSync(path.join(dir, name), { force: true })
    const closed = new Promise((done) => server.close(done))
    for (const socket of open) socket.destroy()
    await closed
  }
}

async function serveOne(socket: Socket, answers: Readonly<Record<string, Answer>>): Promise<void> {
  const question = await firstLine(socket)
  if (question === undefined) return
  const answer = Object.hasOwn(answers, question) ? answers[question] : undefined
  const lines = async function* () {
    let end: End = { end: true }
    try {
      if (!answer) throw new Error(`unknown request "${question}"`)
      for await (const line of answer()) yield `${line}\n`
    } catch (e) {
      end = { error: (e as Error).message }
    }
    yield `${JSON.stringify(end)}\n`
  }
  await pipeline(Readable.from(lines()), socket).catch(() => socket.destroy())
}

/** The first received line. Undefined if the connection ends before, or if the input is invalid. */
function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end >= 0) resolve(text.slice(0, end))
      else if (text.length > longestQuestion) socket.destroy()
    })
    socket.once('close', () => resolve(undefined))
  })
}

/** The names of the sockets in a directory, including those of ended processes. */
function names(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.startsWith(prefix))
      .sort()
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw e
  }
}

async function removeDead(dir: string): Promise<void> {
  for (const name of names(dir)) {
    const socket = await connectInDirectory(dir, name).catch(() => 'unclear' as const)
    if (typeof socket === 'object') socket.destroy()
    if (socket === undefined) rmSync(path.join(dir, name), { force: true })
  }
}

/** A process that serves from a data directory. */
export interface LocalServer {
  pid: number
  /** Sends one request. Rejects with the server's error, or if there is no response. */
  ask<T>(question: string): AsyncIterable<T>
}

/** Finds the process that serves from a data directory; undefined if there is none. Rejects if there are several. */
export async function findLocalServer(dataDir: string): Promise<LocalServer | undefined> {
  const dir = runDir(dataDir)
  const found: { pid: number; socket: Socket }[] = []
  for (const name of names(dir)) {
    const socket = await connectInDirectory(dir, name)
    if (socket) found.push({ pid: Number(name.slice(prefix.length).split('-')[0]), socket })
  }
  const [first, ...others] = found
  if (others.length > 0) {
    for (const { socket } of found) socket.destroy()
    throw new Error(`several servers use ${dataDir}: processes ${found.map(({ pid }) => pid).join(', ')}`)
  }
  if (!first) return undefined
  const { pid, socket } = first
  return { pid, ask: <T>(question: string) => answerTo<T>(socket, pid, question) }
}

async function* answerTo<T>(socket: Socket, pid: number, question: string): AsyncIterable<T> {
  let problem: Error | undefined
  socket.on('error', (e) => (problem ??= e))
  socket.setTimeout(silenceMs, () => socket.destroy(new Error(`process ${pid} does not answer`)))
  socket.write(`${question}\n`)
  try {
    for await (const line of linesOf(received(socket))) {
      const value = JSON.parse(line) as T | End
      if (typeof value === 'object' && value !== null && 'end' in value) return
      if (typeof value === 'object' && value !== null && 'error' in value) throw new Error(value.error)
      yield value as T
    }
  } finally {
    socket.destroy()
  }
  throw problem ?? new Error(`process ${pid} ended before its answer was complete`)
}

/** The bytes until the connection ends. The reason is that of the event `error`, if there is one. */
async function* received(socket: Socket): AsyncIterable<Buffer> {
  try {
    yield* socket as AsyncIterable<Buffer>
  } catch {
    // The caller reports the reason.
  }
}

/** The response to the request `status`. */
export interface LocalStatus {
  pid: number
  url: string
  store: string
  release: string
  nodeVersion: string
  revision: number
  storedBytes: number
  startedAt: string
}

type StatusSource = Pick<LocalStatus, 'url' | 'store' | 'release'> & { revision(): number; storedBytes(): number }

/** The handler of the request `status`. */
export const answerStatus = ({ revision, storedBytes, ...about }: StatusSource): Answer =>
  async function* () {
    const status: LocalStatus = {
      ...about,
      pid: process.pid,
      nodeVersion: process.version,
      revision: revision(),
      storedBytes: storedBytes(),
      startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString(),
    }
    yield JSON.stringify(status)
  }
