import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Server, createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type KeyPair, createAuthority, issueServerCertificate } from '../../src/server/auth/certificates.ts'

/** Answers one call: an object becomes JSON with code 200. */
export type Answer = (body: any, request: IncomingMessage, response: ServerResponse) => unknown

/** A webhook on a port of this machine. What it answers is the test's to say. */
export class WebhookServer {
  readonly calls: { path: string; body: any }[] = []
  readonly authority: KeyPair
  answer: Answer
  readonly #server: Server

  private constructor(authority: KeyPair, hosts: readonly string[], answer: Answer) {
    this.authority = authority
    this.answer = answer
    const { certificate: cert, key } = issueServerCertificate(authority, hosts, Date.now())
    this.#server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (request, response) => void this.#handle(request, response))
  }

  /** Endpoints of services may not have addresses in 127.0.0.0/16: a server behind one listens elsewhere. */
  static async start(answer: Answer, address = '127.0.0.1'): Promise<WebhookServer> {
    const server = new WebhookServer(createAuthority(Date.now()), [address, 'hook.default.svc'], answer)
    await new Promise<void>((resolve) => server.#server.listen(0, address, resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get address(): string {
    return (this.#server.address() as AddressInfo).address
  }

  get url(): string {
    return `https://${this.address}:${this.port}/`
  }

  get caBundle(): string {
    return Buffer.from(this.authority.certificate).toString('base64')
  }

  /** The webhook in the form of webhook configurations. */
  get clientConfig(): { url: string; caBundle: string } {
    return { url: this.url, caBundle: this.caBundle }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of request.setEncoding('utf8')) text += piece as string
    const body = text ? JSON.parse(text) : undefined
    this.calls.push({ path: request.url!, body })
    const answered = await this.answer(body, request, response)
    if (answered === undefined) return
    response.setHeader('content-type', 'application/json')
    response.end(typeof answered === 'string' ? answered : JSON.stringify(answered))
  }

  /** Sets the handler for clients that request another protocol. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex) => void): void {
    this.#server.on('upgrade', take)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
