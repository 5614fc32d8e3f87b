import { isIP } from 'node:net'
import tls from 'node:tls'
import { type AnswerEvents, AnswerReader } from './answer-reader.ts'
import type { Target } from './target.ts'

/**
 * One connection that speaks as much HTTP/1.1 as the load needs. Node's own client takes more of the machine for a request than
 * the server under test should have to share it with.
 */
export class Connection {
  readonly #socket: tls.TLSSocket
  readonly #headers: string
  #reader: AnswerReader | undefined
  #failed: ((why: Error) => void) | undefined

  constructor({ url, tls: identity, headers }: Target) {
    const { hostname, port } = url
    this.#headers = Object.entries({ host: url.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join('')
    this.#socket = tls.connect({ host: hostname, port: Number(port || 443), servername: isIP(hostname) ? '' : hostname, ALPNProtocols: ['http/1.1'], ...identity })
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => this.#reader?.take(chunk))
    this.#socket.on('error', (why) => this.#fail(why))
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  /** Sends one request; the next may follow once its answer has ended. `failed` hears of a connection that is lost before that. */
  send(method: string, path: string, body: string | undefined, type: string, on: AnswerEvents & { failed(why: Error): void }): void {
    const described = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
    this.#failed = on.failed
    this.#reader = new AnswerReader({
      head: on.head,
      body: on.body,
      end: () => {
        this.#reader = undefined
        this.#failed = undefined
        on.end()
      },
    })
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#headers}${described}\r\n${body ?? ''}`)
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #fail(why: Error): void {
    const tell = this.#failed
    this.#failed = undefined
    tell?.(why)
  }
}
