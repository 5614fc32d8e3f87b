import { execFileSync } from 'node:child_process'
import { chownSync, closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'

/** A pipe whose write end is passed to a process. */
interface Pipe {
  readonly writeEnd: number
  /** Closes our copy of the write end. Resolves when no process has one. */
  read(heard: (piece: Buffer) => void): Promise<void>
}

/**
 * Pipes for a container's stdout and stderr. Node creates sockets for its children, and a program cannot open
 * /dev/stdout on a socket. These are named pipes whose names are removed at once.
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
  // Non-blocking, because the call would otherwise wait for a writer.
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
