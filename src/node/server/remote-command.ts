import type { Readable } from 'node:stream'
import type { Attachment } from '../runtime/runtime.ts'
import { type Connection, whenDrained } from './connection.ts'

/**
 * Kubernetes' WebSocket protocols for commands, the preferred one first. With v5 a client can close a single stream.
 */
export const channelProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const

/** The channel, which is the first byte of each message. */
export const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

export interface StreamChoice {
  stdin: boolean
  stdout: boolean
  stderr: boolean
  tty: boolean
}

/** The exit code of a command as a Status. */
function exitStatus(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

/** A Status for a command that could not be run, or whose end was not observed. */
const failureStatus = (message: string): object => ({
  metadata: {},
  status: 'Failure',
  message,
  reason: 'InternalError',
  details: { causes: [{ message }] },
  code: 500,
})

/** Parses a terminal size. Undefined if it is invalid. */
function sizeOf(content: Buffer): { columns: number; rows: number } | undefined {
  try {
    const { Width, Height } = JSON.parse(content.toString()) as { Width?: unknown; Height?: unknown }
    return typeof Width === 'number' && typeof Height === 'number' && Width > 0 && Height > 0
      ? { columns: Width, rows: Height }
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Connects the streams of a process with those of a client until the process ends. If the client disconnects, the
 * process's streams are closed.
 */
export async function serveCommand(
  connection: Connection,
  choice: StreamChoice,
  start: () => Promise<Attachment>,
): Promise<void> {
  const say = (to: number, content: Buffer) => connection.send(Buffer.concat([Buffer.from([to]), content]))
  const finish = (status: object) => {
    say(channel.error, Buffer.from(JSON.stringify(status)))
    connection.close()
  }
  const early: Buffer[] = []
  connection.onMessage = (message) => void early.push(message)
  let isGone = false
  connection.onClose = () => (isGone = true)
  let attachment: Attachment
  try {
    attachment = await start()
  } catch (e) {
    return finish(failureStatus((e as Error).message))
  }
  const { stdin, stdout, stderr } = attachment
  const leave = () => {
    stdin?.destroy()
    stdout.destroy()
    stderr?.destroy()
  }
  if (isGone) return leave()
  connection.onClose = leave
  connection.onMessage = (message) => receive(connection, attachment, message)
  // Some clients wait for a first message to detect that the connection works.
  say(choice.stdout ? channel.stdout : choice.stderr ? channel.stderr : channel.error, Buffer.alloc(0))
  for (const message of early) connection.onMessage(message)
  const sent = [
    forward(connection, stdout, choice.stdout ? channel.stdout : undefined, say),
    stderr ? forward(connection, stderr, choice.stderr ? channel.stderr : undefined, say) : undefined,
  ]
  try {
    const exitCode = await attachment.ended
    await Promise.all(sent)
    finish(exitStatus(exitCode))
  } catch (e) {
    finish(failureStatus((e as Error).message))
  }
}

function receive(connection: Connection, { stdin, resize }: Attachment, message: Buffer): void {
  const content = message.subarray(1)
  if (message[0] === channel.stdin) {
    if (content.length === 0 || !stdin?.writable) return
    if (stdin.write(content)) return
    connection.pause()
    whenDrained(stdin, () => connection.resume())
  } else if (message[0] === channel.resize) {
    const size = sizeOf(content)
    if (size) resize(size.columns, size.rows)
  } else if (message[0] === channel.close && content[0] === channel.stdin) {
    stdin?.end()
  }
}

/**
 * Resolves when everything was sent. Output that the client did not request is read and discarded, so that the process
 * does not block.
 */
function forward(
  connection: Connection,
  source: Readable,
  to: number | undefined,
  say: (to: number, content: Buffer) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    source.on('data', (piece: Buffer) => {
      if (to === undefined || say(to, piece)) return
      source.pause()
      connection.drained(() => source.resume())
    })
    source.once('close', resolve)
    source.once('end', resolve)
    source.once('error', () => resolve())
  })
}
