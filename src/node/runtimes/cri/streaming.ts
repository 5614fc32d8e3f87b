import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Attachment, RuntimeError } from '../../runtime/runtime.ts'
import { PlainConnection } from '../../server/connection.ts'
import { portForwardProtocol } from '../../server/port-forward.ts'
import { SpdySession, type SpdyStream } from '../../server/spdy/session.ts'

/** A command protocol with a separate end of each stream and an exit code. */
const commandProtocol = 'v4.channel.k8s.io'
const connectTimeoutMs = 10_000

/** Opens a session with the streaming server at the URL. */
function dial(url: string, protocol: string): Promise<SpdySession> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => reject(new RuntimeError('Unavailable', `error dialing the runtime: ${message}`))
    const asked = request(url, {
      method: 'POST',
      agent: false,
      timeout: connectTimeoutMs,
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol },
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.on('error', (e) => fail(e.message))
    asked.on(
      'response',
      (answer) =>
        void text(answer).then(
          (body) => fail(`${answer.statusCode} ${body.trim()}`),
          (e: Error) => fail(e.message),
        ),
    )
    asked.on('upgrade', (_answer, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      socket.setNoDelay(true)
      if (head.length > 0) socket.unshift(head)
      resolve(SpdySession.client(new PlainConnection(socket)))
    })
    asked.end()
  })
}

/** Connects to a command, or to a container's own process, at the URL from the runtime's response. */
export async function openCommand(url: string, { tty, stdin }: { tty: boolean; stdin: boolean }): Promise<Attachment> {
  const session = await dial(url, commandProtocol)
  const open = (streamtype: string) => session.open({ streamtype })
  const errors = await open('error')
  const input = stdin ? await open('stdin') : undefined
  const output = await open('stdout')
  const errorOutput = tty ? undefined : await open('stderr')
  const sizes = tty ? await open('resize') : undefined
  const ended = endOf(errors).finally(() => {
    for (const stream of [input, output, errorOutput, sizes]) stream?.end()
    session.closeWhenRead()
  })
  // Prevents an unhandled rejection if no caller waits.
  ended.catch(() => {})
  // The session ends with its reader.
  output.once('close', () => session.close())
  return {
    stdin: input,
    stdout: output,
    stderr: errorOutput,
    resize: (columns, rows) => void sizes?.write(JSON.stringify({ Width: columns, Height: rows })),
    ended,
  }
}

interface CommandStatus {
  status?: string
  message?: string
  reason?: string
  details?: { causes?: { reason?: string; message?: string }[] }
}

/** The exit code, which is the last message of the error stream. */
async function endOf(errors: SpdyStream): Promise<number> {
  const said = await text(errors)
  if (said === '') throw new RuntimeError('Unavailable', 'the runtime did not report the result of the command')
  const { status, message = said, reason, details } = parseStatus(said)
  if (status === 'Success') return 0
  const code = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message
  if (reason === 'NonZeroExitCode' && code !== undefined) return Number(code)
  throw new RuntimeError('Unknown', message)
}

function parseStatus(said: string): CommandStatus {
  try {
    return JSON.parse(said) as CommandStatus
  } catch {
    // A message of the streaming server itself.
    return { message: said }
  }
}

/** Connects to a port of a sandbox at the URL from the runtime's response. */
export async function openPort(url: string, port: number): Promise<{ readable: Readable; writable: Writable }> {
  const session = await dial(url, portForwardProtocol)
  const headers = { port: String(port), requestid: '0' }
  const errors = await session.open({ ...headers, streamtype: 'error' })
  const data = await session.open({ ...headers, streamtype: 'data' })
  errors.end()
  void text(errors).then(
    (said) => (said === '' ? undefined : data.destroy(new RuntimeError('Unavailable', said))),
    () => {},
  )
  data.once('close', () => session.close())
  return { readable: data, writable: data }
}
