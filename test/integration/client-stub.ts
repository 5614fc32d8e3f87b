import { once } from 'node:events'
import { type IncomingMessage, type Server as PlainServer, type ServerResponse, createServer } from 'node:http'
import { type Http2SecureServer, type Http2ServerRequest, type ServerHttp2Session, createSecureServer } from 'node:http2'
import { createServer as createHttp1Server } from 'node:https'
import { type AddressInfo, type Server, type Socket, connect, createServer as createTcpServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type ClientCertificate, type ClusterAccess, type Credentials, fixedCredentials } from '../../src/client/index.ts'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../src/server/index.ts'

const authority = createAuthority(Date.now())
const serving = issueServerCertificate(authority, ['127.0.0.1', 'stub.example'], Date.now())

/** The access to a server on this machine with one of our certificates. */
export const stubAccess = (port: number, fields: Partial<ClusterAccess> = {}): ClusterAccess => ({
  server: new URL(`https://127.0.0.1:${port}`),
  authority: () => authority.certificate,
  insecureSkipTlsVerify: false,
  headers: {},
  credentials: fixedCredentials(),
  namespace: 'default',
  ...fields,
})

/** A client certificate that the stub takes. */
export function clientPair(commonName: string): ClientCertificate {
  return issueClientCertificate(authority, { commonName, organizations: [] }, Date.now())
}

/** The name in a client's certificate. */
export const certificateName = (request: StubRequest): unknown => ((request.stream?.session?.socket ?? request.socket) as TLSSocket).getPeerCertificate().subject?.CN

/** Credentials that go through these tokens, one after each refusal. */
export function rotatingTokens(...tokens: string[]): Credentials {
  const proofs = tokens.map((token) => ({ authorization: `Bearer ${token}` }))
  let at = 0
  return {
    current: () => proofs[at]!,
    refused: async () => at + 1 < proofs.length && Boolean(++at),
  }
}

export type StubRequest = IncomingMessage & Partial<Pick<Http2ServerRequest, 'stream'>>
/** The common part of both kinds of responses. */
export type StubResponse = ServerResponse

export interface Stub {
  port: number
  /** The number of connections so far. */
  connections(): number
  /** Cuts every connection. */
  cut(): void
  sockets: Set<Socket>
  sessions: Set<ServerHttp2Session>
  requests: { method: string; url: string; headers: StubRequest['headers'] }[]
  close(): Promise<void>
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function ended(server: Server | PlainServer, sockets: Iterable<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  for (const socket of sockets) socket.destroy()
  await closed
}

/** A server with TLS that answers as it is told, over HTTP/2 or only over HTTP/1.1. */
export async function startStub(answer: (request: StubRequest, response: StubResponse) => void, options: { isHttp1?: boolean; maxStreams?: number } = {}): Promise<Stub> {
  const tls = { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false }
  const server = options.isHttp1
    ? createHttp1Server(tls)
    : createSecureServer({ ...tls, ...(options.maxStreams ? { settings: { maxConcurrentStreams: options.maxStreams } } : {}) })
  let connections = 0
  const stub: Omit<Stub, 'port' | 'close'> = {
    connections: () => connections,
    cut() {
      for (const socket of stub.sockets) socket.destroy()
    },
    sockets: new Set(),
    sessions: new Set(),
    requests: [],
  }
  server.on('secureConnection', (socket: Socket) => {
    connections++
    stub.sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => stub.sockets.delete(socket))
  })
  ;(server as Http2SecureServer).on('session', (session: ServerHttp2Session) => {
    stub.sessions.add(session)
    session.on('error', () => {})
    session.once('close', () => stub.sessions.delete(session))
  })
  server.on('request', (request: StubRequest, response: StubResponse) => {
    stub.requests.push({ method: request.method!, url: request.url!, headers: request.headers })
    request.on('error', () => {})
    response.on('error', () => {})
    answer(request, response)
  })
  const port = await listening(server)
  return { ...stub, port, close: () => ended(server, stub.sockets) }
}

/** Answers with JSON. */
export function answerJson(response: StubResponse, code: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
}

/** Passes bytes on to a port, and counts who comes. Cut, the way is gone without a word, as when a cable is pulled. */
export async function startForwarder(target: number) {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createTcpServer((socket) => {
    connections++
    const onward = connect(target, '127.0.0.1')
    for (const [from, to] of [[socket, onward], [onward, socket]] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.once('close', () => to.destroy())
      from.pipe(to)
    }
  })
  const port = await listening(server)
  return {
    port,
    connections: () => connections,
    goSilent() {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    close: () => ended(server, sockets),
  }
}

/** A proxy that connects whoever may. */
export async function startProxy(isAllowed: (authorization: string | undefined) => boolean = () => true) {
  const targets: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer()
  server.on('connect', (request, socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (!isAllowed(request.headers['proxy-authorization'])) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    targets.push(request.url!)
    const [host, port] = request.url!.split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket)
      socket.pipe(onward)
    })
    sockets.add(onward)
    onward.on('error', () => socket.destroy())
    onward.once('close', () => socket.destroy())
    socket.once('close', () => onward.destroy())
  })
  const port = await listening(server)
  return { port, targets, close: () => ended(server, sockets) }
}
