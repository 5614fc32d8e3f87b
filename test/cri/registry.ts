import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Image, manifestType } from './images.ts'

interface Served {
  image: Image
  /** `USER:PASSWORD` that a pull has to show. */
  login: string | undefined
}

/** A registry of images on the loopback address, as far as pulls go. */
export class Registry {
  readonly #images = new Map<string, Served>()
  readonly #server: Server = createServer((request, response) => this.#answer(request, response))
  /** Answers wait for it. */
  gate: Promise<unknown> = Promise.resolve()
  /** Every request, as `METHOD PATH`. */
  readonly requests: string[] = []

  /** `name` is `REPOSITORY:TAG`. */
  serve(name: string, image: Image, login?: string): void {
    this.#images.set(name, { image, login })
  }

  withdraw(name: string): void {
    this.#images.delete(name)
  }

  listen(): Promise<number> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port)))
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #answer({ method, url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${method} ${url}`)
    await this.gate
    const [, repository, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^?]+)/.exec(url) ?? []
    if (!repository || !kind || !reference) return void response.writeHead(200).end('{}')
    const candidates = [...this.#images].filter(([name]) => name.slice(0, name.lastIndexOf(':')) === repository)
    const found = candidates.find(([name, { image }]) => name === `${repository}:${reference}` || [image.manifest, image.config, ...image.layers].some(({ digest }) => digest === reference))
    if (!found) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
    const [, { image, login }] = found
    if (login !== undefined && headers.authorization !== `Basic ${Buffer.from(login).toString('base64')}`) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}')
    }
    const { bytes, digest } = kind === 'manifests' ? image.manifest : [image.config, ...image.layers].find((b) => b.digest === reference)!
    const type = kind === 'manifests' ? manifestType : 'application/octet-stream'
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length, 'docker-content-digest': digest })
    response.end(method === 'HEAD' ? undefined : bytes)
  }
}
