import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { type Server, type Socket, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { listen } from './listen.ts'

// sun_path holds 104 bytes on macOS and 108 on Linux, including the terminating zero.
const maxSocketPath = 103
const nobodyListens = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']

/** Listens on a Unix socket in a directory. The server does not keep the process alive. */
export function listenInDirectory(dir: string, name: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return withShortPath(dir, name, async (path) => {
    const server = createServer(onConnection)
    server.unref()
    await listen(server, { path })
    return server
  })
}

/**
 * Connects to a Unix socket in a directory. Resolves to undefined if no process listens on it. Any other failure is an
 * error: a process that is stopped or overloaded still listens.
 */
export function connectInDirectory(dir: string, name: string): Promise<Socket | undefined> {
  return withShortPath(dir, name, (path) => {
    const socket = connect(path)
    return new Promise((done, failed) => {
      socket.once('connect', () => {
        socket.removeAllListeners('error')
        done(socket)
      })
      socket.once('error', (error: NodeJS.ErrnoException) => {
        if (nobodyListens.includes(error.code ?? '')) done(undefined)
        else failed(error)
      })
    })
  })
}

/** Node truncates a socket path that is too long; a symbolic link to the directory shortens it. */
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
