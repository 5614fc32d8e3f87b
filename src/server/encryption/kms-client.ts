import { connect } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { ClientConnection, type Field } from '../../http2/index.ts'

/** Calls methods of a gRPC service that listens on a Unix socket. */
export interface GrpcClient {
  /** Resolves with the answer's message; rejects with the status of a call that failed. */
  call(method: string, message: Buffer): Promise<Buffer>
  close(): void
}

const windowBytes = 1 << 20

/** The Unix socket of `unix:///run/kms.sock`, `unix:/run/kms.sock` or the abstract `unix:///@kms`. */
export function socketPath(endpoint: string): string {
  const path = endpoint.replace(/^unix:(\/\/)?/, '')
  return path.startsWith('/@') ? `\0${path.slice(2)}` : path
}

/** Connects when it is first called, and anew after a connection has ended. */
export function grpcClient(endpoint: string, service: string, timeoutMs: number, clock: Clock): GrpcClient {
  let connection: ClientConnection | undefined
  const connected = (): ClientConnection => {
    if (connection?.isUsable) return connection
    const socket = connect(socketPath(endpoint))
    // An error ends in onClosed; unheard, it would end the process.
    socket.on('error', () => {})
    const opened = new ClientConnection({
      socket,
      streamWindow: windowBytes,
      connectionWindow: windowBytes,
      onHeard() {},
      onLeaving() {},
      onClosed() {
        if (connection === opened) connection = undefined
      },
    })
    return (connection = opened)
  }
  return {
    call: (method, message) =>
      callOnce(connected(), { path: `/${service}/${method}`, message, timeoutMs, clock, endpoint }),
    close: () => connection?.destroy(),
  }
}

interface Call {
  path: string
  message: Buffer
  timeoutMs: number
  clock: Clock
  endpoint: string
}

function callOnce(connection: ClientConnection, { path, message, timeoutMs, clock, endpoint }: Call): Promise<Buffer> {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const fields: Field[] = [
    { name: ':method', value: 'POST' },
    { name: ':scheme', value: 'http' },
    { name: ':path', value: path },
    { name: ':authority', value: 'localhost' },
    { name: 'content-type', value: 'application/grpc' },
    { name: 'te', value: 'trailers' },
    { name: 'grpc-timeout', value: `${timeoutMs}m` },
  ]
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let status: string | undefined
    let detail = ''
    const fail = (why: string) => {
      cancelTimer()
      reject(new Error(why))
    }
    const note = (received: readonly Field[]) => {
      for (const { name, value } of received) {
        if (name === 'grpc-status') status = value
        else if (name === 'grpc-message') detail = value
      }
    }
    const cancel = connection.request(
      { fields, body: Buffer.concat([head, message]) },
      {
        head(code, received) {
          note(received)
          if (code !== 200) fail(`the KMS plug-in at ${endpoint} answered with ${code}`)
        },
        data: (piece) => void pieces.push(piece),
        trailers: note,
        end() {
          if (status !== undefined && status !== '0')
            return fail(`rpc error: code = ${status} desc = ${decodeURIComponent(detail)}`)
          const body = Buffer.concat(pieces)
          if (body.length < 5 || body[0] !== 0 || body.readUInt32BE(1) !== body.length - 5)
            return fail(`the KMS plug-in at ${endpoint} answered with no message`)
          cancelTimer()
          resolve(body.subarray(5))
        },
        closed: () => fail(`the KMS plug-in at ${endpoint} cannot be reached`),
      },
    )
    const cancelTimer = clock.after(timeoutMs, () => {
      cancel()
      reject(new Error(`the KMS plug-in at ${endpoint} did not answer within ${timeoutMs} ms`))
    })
  })
}
