import type { Server as HttpServer } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { listen } from '../../../../base/listen.ts'
import type { Launch } from './protocol.ts'

/** The start of HTTP/2 with prior knowledge, as gRPC uses it. */
const http2Preface = 'PRI * HTTP/2.0'

/** The response of a gRPC health service: a frame with one field, `status: SERVING`. */
const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 1])

/** Answers HTTP requests and gRPC health checks for a container without a program, until it is closed. */
export class Placeholder {
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  #http: HttpServer | undefined
  /** Created for the first HTTP/2 connection, because few placeholders get one. */
  #http2: Promise<Http2Server> | undefined
  #isClosed = false

  /** Resolves with the errors of ports that could not be opened. `say` is called for each port. */
  async listen(
    { address, ports, text }: NonNullable<Launch['placeholder']>,
    say: (line: string) => void,
  ): Promise<string[]> {
    const refused: string[] = []
    if (ports.length === 0) return refused
    const { createServer: createHttpServer } = await import('node:http')
    const { createServer } = await import('node:net')
    const body = Buffer.from(text)
    this.#http = createHttpServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
    for (const port of ports) {
      if (this.#isClosed) return refused
      const server = createServer((socket) => this.#accept(socket))
      this.#servers.push(server)
      await listen(server, { host: address, port }).then(
        () => say(`answers HTTP on ${address}:${port}`),
        (error: NodeJS.ErrnoException) => {
          refused.push(`cannot answer on ${address}:${port}: ${error.code ?? error.message}`)
          say(refused.at(-1)!)
        },
      )
    }
    return refused
  }

  close(): void {
    this.#isClosed = true
    for (const server of this.#servers.splice(0)) server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Detects the protocol from the first bytes. */
  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.once('data', (piece: Buffer) => {
      socket.pause()
      socket.unshift(piece)
      const isHttp2 = http2Preface.startsWith(piece.toString('latin1', 0, http2Preface.length))
      if (!isHttp2) {
        this.#http!.emit('connection', socket)
        return void socket.resume()
      }
      this.#http2 ??= healthServer()
      void this.#http2.then((server) => server.emit('connection', socket))
    })
  }
}

async function healthServer(): Promise<Http2Server> {
  const { createServer } = await import('node:http2')
  const server = createServer()
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    const isHealth = headers[':path'] === '/grpc.health.v1.Health/Check'
    stream.on('error', () => {})
    stream.resume()
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    // 12 is UNIMPLEMENTED.
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isHealth ? '0' : '12' }))
    stream.end(isHealth ? serving : undefined)
  })
  return server
}
