import { execFileSync } from 'node:child_process'
import { chownSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'

/** A pipe whose other end is handed to a process. */
interface Pipe {
  readonly writeEnd: number
  /** Closes our copy of the other end; resolves when nobody has one any more. */
  read(heard: (piece: Buffer) => void): Promise<void>
}

/**
 * Pipes for a container's output and errors. What Node makes for its children are sockets, and a program cannot open
 * /dev/stdout on a socket; a pipe with a name, whose name is gone at once, is like any other.
 */
export function openPipes(directory: string, owner?: number): [stdout: Pipe, stderr: Pipe] {
  const files = [path.join(directory, 'stdout'), path.join(directory, 'stderr')] as const
  for (const file of files) rmSync(file, { force: true })
  execFileSync('mkfifo', files, { stdio: 'ignore' })
  if (owner !== undefined) for (const file of files) chownSync(file, owner, owner)
  const pipes = files.map(openPipe) as [Pipe, Pipe]
  for (const file of files) rmSync(file)
  return pipes
}

function openPipe(file: string): Pipe {
  // Without waiting, or it would wait for a writer.
  const readEnd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = openSync(file, constants.O_WRONLY)
  return {
    writeEnd,
    read(heard) {
      closeSync(writeEnd)
      const socket = new Socket({ fd: readEnd, readable: true, writable: false })
      socket.on('data', heard)
      socket.on('error', () => socket.destroy())
      return new Promise((resolve) => socket.once('close', () => resolve()))
    },
  }
}
