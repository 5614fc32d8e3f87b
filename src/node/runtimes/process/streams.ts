import { type ChildProcess, spawn } from 'node:child_process'
import { type Socket, connect } from 'node:net'
import { PassThrough, type Readable, Writable } from 'node:stream'
import type { Clock } from '../../../base/clock.ts'
import { type Attachment, RuntimeError } from '../../runtime/runtime.ts'
import { exitCodeOf } from './exit-code.ts'
import { signalProcess } from './proc.ts'
import { FrameReader, type FrameKind, type Launch, frame } from './shim/protocol.ts'
import { hasTerminals, setTerminalSize } from './terminal.ts'

type Start = Pick<Launch, 'command' | 'env' | 'workingDirectory' | 'user'>

/** The time to wait for further output after the end of a process. Another process may hold its output open. */
const lastWordsMs = 1000

const mostOutputBytes = 16 << 20

function spawnIn({ command, env, workingDirectory, user }: Start, stdin: boolean): ChildProcess {
  return spawn(command[0]!, command.slice(1), {
    cwd: workingDirectory,
    env: { ...env },
    ...user,
    detached: true,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
}

/** Resolves with the exit code when the process has ended and its output was read. */
function endOf(child: ChildProcess, clock: Clock): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new RuntimeError('Unknown', error.message)))
    child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)))
    child.once('exit', (code, signal) => {
      const outputs = [child.stdout, child.stderr] as Socket[]
      const readSoFar = () => outputs.reduce((sum, s) => sum + s.bytesRead, 0)
      const look = (before: number) =>
        clock.after(lastWordsMs, () => {
          if (outputs.some((s) => s.readableLength > 0) || readSoFar() > before) return void look(readSoFar())
          for (const output of outputs) output.destroy()
          resolve(exitCodeOf(code, signal))
        })
      const cancel = look(readSoFar())
      child.once('close', cancel)
    })
  })
}

/** Runs a command and collects its output. The command is killed at its timeout. */
export async function runToEnd(
  start: Start,
  timeoutSeconds: number,
  clock: Clock,
): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
  const child = spawnIn(start, false)
  const collect = (stream: Readable) => {
    const pieces: Buffer[] = []
    let size = 0
    stream.on('data', (piece: Buffer) => {
      if (size < mostOutputBytes) pieces.push(piece)
      size += piece.length
    })
    return () => Buffer.concat(pieces).subarray(0, mostOutputBytes)
  }
  const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)]
  let isLate = false
  const kill = () => {
    isLate = true
    if (child.pid !== undefined) signalProcess(-child.pid, 'SIGKILL')
  }
  const cancel = timeoutSeconds > 0 ? clock.after(timeoutSeconds * 1000, kill) : () => {}
  try {
    const exitCode = await endOf(child, clock)
    if (isLate)
      throw new RuntimeError(
        'DeadlineExceeded',
        `failed to exec in container: timeout ${timeoutSeconds}s exceeded: context deadline exceeded`,
      )
    return { stdout: stdout(), stderr: stderr(), exitCode }
  } finally {
    cancel()
  }
}

/** Runs a command with open streams. */
export function runAttached(start: Start, options: { tty: boolean; stdin: boolean }, clock: Clock): Attachment {
  const { stdin, tty } = options
  // A program whose terminal input is not read would see a hangup.
  const child = spawnIn(start, stdin || tty)
  child.stdin?.on('error', () => {})
  const ended = endOf(child, clock)
  // Prevents an unhandled rejection if no caller waits.
  ended.catch(() => {})
  return {
    stdin: stdin ? (child.stdin ?? undefined) : undefined,
    stdout: child.stdout!,
    stderr: tty ? undefined : (child.stderr ?? undefined),
    resize: (columns, rows) =>
      tty && hasTerminals && child.pid !== undefined ? setTerminalSize(child.pid, columns, rows) : undefined,
    ended,
  }
}

/** The streams of a container's own process, from the shim. */
export function attachmentOf(socket: Socket, options: { tty: boolean; stdin: boolean }): Attachment {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const send = (kind: FrameKind, content: Buffer, done: () => void) =>
    socket.writable ? socket.write(frame(kind, content), () => done()) : done()
  const stdin = new Writable({
    write: (piece: Buffer, _encoding, done) => void send('stdin', piece, done),
    final: (done) => void send('stdinEnd', Buffer.alloc(0), done),
  })
  const ended = new Promise<number>((resolve) => {
    const frames = new FrameReader()
    let exitCode = exitCodeOf(null, 'SIGKILL')
    socket.on('data', (piece: Buffer) => {
      for (const { kind, content } of frames.read(piece)) {
        if (kind === 'stdout') stdout.write(content)
        else if (kind === 'stderr') stderr.write(content)
        else if (kind === 'exit') exitCode = content.readUInt32BE(0)
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      stdout.end()
      stderr.end()
      resolve(exitCode)
    })
  })
  stdout.on('close', () => socket.destroy())
  socket.resume()
  return {
    stdin: options.stdin ? stdin : undefined,
    stdout,
    stderr: options.tty ? undefined : stderr,
    resize(columns, rows) {
      const content = Buffer.alloc(4)
      content.writeUInt16BE(columns, 0)
      content.writeUInt16BE(rows, 2)
      send('resize', content, () => {})
    },
    ended,
  }
}

/** Connects to a port. Each side may end its direction separately. */
export function connectTo(host: string, port: number): Promise<{ readable: Readable; writable: Writable }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    socket.once('connect', () => resolve({ readable: socket, writable: socket }))
    socket.once('error', (error) => reject(new RuntimeError('Unavailable', error.message)))
  })
}
