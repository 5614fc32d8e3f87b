import { type Server, type Socket, createServer } from 'node:net'
import { type TlsOptions as NodeTlsOptions, createServer as createTlsServer } from 'node:tls'
import { listen } from '../base/listen.ts'
import { ErrorCode, type Http2Stream, type RequestHead, ServerConnection } from '../http2/index.ts'
import type { Method } from './call.ts'
import { MessageReader, fillFrameHead, frameHeadBytes } from './framing.ts'
import type { Decoded, Encodable, MessageFields } from './message.ts'
import { RpcError, type StatusCode, statusCodes } from './status.ts'

/** A call, as its handler sees it. */
export interface ServedCall<Q, A> {
  readonly headers: ReadonlyMap<string, string>
  /** Sets the callbacks for each message of the client and for the end of its messages. */
  onMessage(message: (request: Q) => void, end?: () => void): void
  /** Sends a message. False if it is buffered. */
  send(message: A): boolean
  /** Ends the call with a status. */
  end(code?: StatusCode, detail?: string): void
  /** Sets the callback for a client that has disconnected or cancelled the call. */
  onGone: (() => void) | undefined
}

type Serve = (stream: Http2Stream, head: RequestHead) => void

/** A gRPC server for tests, where the real server is not available. It enforces neither limits nor deadlines. */
export class GrpcServer {
  readonly #methods = new Map<string, Serve>()
  readonly #connections = new Set<ServerConnection>()
  #server: Server | undefined

  /** Registers a streaming method. */
  stream<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    handle: (call: ServedCall<Decoded<Q>, Encodable<A>>) => void,
  ): this {
    this.#methods.set(method.path, (stream, head) => handle(served(method, stream, head)))
    return this
  }

  /** Registers a unary method. A thrown RpcError becomes the status of the call. */
  unary<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    answer: (request: Decoded<Q>) => Encodable<A> | Promise<Encodable<A>>,
  ): this {
    return this.stream(method, (call) => {
      call.onMessage(async (request) => {
        try {
          call.send(await answer(request))
          call.end()
        } catch (e) {
          if (e instanceof RpcError) call.end(e.code, e.detail)
          else call.end('Unknown', (e as Error).message)
        }
      })
    })
  }

  /** Listens on a Unix socket or a loopback port. Resolves to the address in a form that `parseAddress` reads. */
  async listen(at: { path: string } | { port: number; tls?: NodeTlsOptions }): Promise<string> {
    const tls = 'port' in at ? at.tls : undefined
    const onSocket = (socket: Socket) => this.#accept(socket)
    const server = tls ? createTlsServer({ ...tls, ALPNProtocols: ['h2'] }, onSocket) : createServer(onSocket)
    this.#server = server
    await listen(server, 'path' in at ? { path: at.path } : { port: at.port, host: '127.0.0.1' })
    const address = server.address()
    return typeof address === 'object' && address
      ? `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`
      : `unix://${String(address)}`
  }

  /** Closes all connections. New ones are accepted. */
  disconnect(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  close(): Promise<void> {
    this.disconnect()
    return new Promise((resolve) => {
      if (this.#server) this.#server.close(() => resolve())
      else resolve()
    })
  }

  #accept(socket: Socket): void {
    const connection: ServerConnection = new ServerConnection({
      socket,
      maxStreams: 1000,
      now: () => performance.now(),
      onRequest: (stream, head) => {
        const serve = this.#methods.get(head.path)
        if (serve) serve(stream, head)
        else
          stream.sendHeaders([...answerFields, ...statusFields('Unimplemented', `unknown method ${head.path}`)], true)
      },
      onClosed: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
  }
}

const answerFields = [
  { name: ':status', value: '200' },
  { name: 'content-type', value: 'application/grpc' },
]

const statusFields = (code: StatusCode, detail: string) => [
  { name: 'grpc-status', value: String(statusCodes.indexOf(code)) },
  ...(detail === '' ? [] : [{ name: 'grpc-message', value: encodeURIComponent(detail) }]),
]

function served<Q extends MessageFields, A extends MessageFields>(
  method: Method<Q, A>,
  stream: Http2Stream,
  head: RequestHead,
): ServedCall<Decoded<Q>, Encodable<A>> {
  const frames = new MessageReader(method.request, 64 << 20)
  let hasBegun = false
  const begin = () => {
    if (!hasBegun) stream.sendHeaders(answerFields, false)
    hasBegun = true
  }
  const call: ServedCall<Decoded<Q>, Encodable<A>> = {
    headers: head.headers,
    onGone: undefined,
    onMessage(message, end) {
      stream.receive({
        data(piece) {
          frames.take(piece, message)
        },
        end: () => end?.(),
      })
    },
    send(answer) {
      begin()
      return stream.send(fillFrameHead(method.response.encode(answer, frameHeadBytes)))
    },
    end(code = 'OK', detail = '') {
      const finish = () => stream.sendHeaders([...(hasBegun ? [] : answerFields), ...statusFields(code, detail)], true)
      // Trailers must not overtake buffered messages.
      if (stream.backlog > 0) stream.onRoom = finish
      else finish()
    },
  }
  stream.onClosed = (code) => {
    if (code !== ErrorCode.noError) call.onGone?.()
  }
  return call
}
