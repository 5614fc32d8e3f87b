import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { type TLSSocket, connect as connectTls } from 'node:tls'

export interface ClientRequest {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: Buffer | string | undefined
}

export interface ClientAnswer {
  code: number
  headers: NodeJS.Dict<string | string[]>
  text: string
}

/** A server that is silent for so long has lost the request. */
const defaultPatienceMs = 10_000

/** A client that speaks HTTP/1.1 and HTTP/2 by itself, so that it can say what no library would. */
export class TlsClient {
  readonly host: string
  readonly port: number
  readonly #tls: { ca: string; cert: string; key: string }
  readonly #agent: Agent
  readonly #patienceMs: number
  #session: ClientHttp2Session | undefined

  /** For the server and user of a kubeconfig. */
  constructor(kubeconfig: string, maxSockets = 32, patienceMs = defaultPatienceMs) {
    this.#patienceMs = patienceMs
    const text = readFileSync(kubeconfig, 'utf8')
    const field = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)![1]!, 'base64').toString()
    const url = new URL(/server: (\S+)/.exec(text)![1]!)
    this.host = url.hostname
    this.port = Number(url.port)
    this.#tls = { ca: field('certificate-authority-data'), cert: field('client-certificate-data'), key: field('client-key-data') }
    this.#agent = new Agent({ keepAlive: true, maxSockets, ...this.#tls })
  }

  /** One request over HTTP/1.1. Rejects if the connection ends without an answer. */
  http1({ method = 'GET', path, headers = {}, body }: ClientRequest): Promise<ClientAnswer> {
    // Node would send the body of a DELETE without saying how long it is.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const request = httpsRequest({ host: this.host, port: this.port, agent: this.#agent, method, path, headers: { ...length, ...headers }, timeout: this.#patienceMs }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ code: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      })
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.on('error', reject)
      request.end(body)
    })
  }

  /** One request over HTTP/2, on a connection that all of them share. */
  async http2({ method = 'GET', path, headers = {}, body }: ClientRequest): Promise<ClientAnswer> {
    const session = this.session()
    return new Promise((resolve, reject) => {
      const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
      let code = 0
      let answered: NodeJS.Dict<string | string[]> = {}
      const chunks: Buffer[] = []
      stream.on('response', (all) => {
        code = Number(all[':status'])
        answered = all as NodeJS.Dict<string | string[]>
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.setTimeout(this.#patienceMs, () => stream.destroy(new Error('no answer in time')))
      stream.on('error', reject)
      stream.on('close', () => (code ? resolve({ code, headers: answered, text: Buffer.concat(chunks).toString() }) : reject(new Error('the stream ended without an answer'))))
      if (body !== undefined) stream.end(body)
    })
  }

  /** The HTTP/2 connection, opened anew if the last one has ended. */
  session(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    this.#session = connectHttp2(`https://${this.host}:${this.port}`, { ...this.#tls, maxSessionMemory: 1000 })
    this.#session.on('error', () => {}) // its requests are told
    return this.#session
  }

  /** A bare connection for whatever bytes. */
  socket(protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({ host: this.host, port: this.port, ALPNProtocols: [protocol], ...this.#tls }, () => resolve(socket))
      socket.once('error', reject)
      socket.on('error', () => {}) // breaking off is what some of it is for
    })
  }

  /** The authority that the server's certificate is from. */
  get ca(): string {
    return this.#tls.ca
  }

  close(): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }
}
