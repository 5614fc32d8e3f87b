import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'

/**
 * Stands between a process and the API server, and makes watches late. It speaks plain HTTP on the loopback interface,
 * and shows the server the certificate of a kubeconfig's user.
 */
export class DelayingProxy {
  /** By plural name of a resource: how late the bytes of its watches arrive. Applies to watches that are open, too. */
  readonly delaysMs = new Map<string, number>()
  /** Writes that went through, `POST pods 201`, by namespace. */
  readonly writes = new Map<string, string[]>()
  readonly #upstream: URL
  readonly #agent: Agent
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()

  /** For the server and user of a kubeconfig. */
  constructor(kubeconfig: string) {
    const text = readFileSync(kubeconfig, 'utf8')
    const field = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)![1]!, 'base64').toString()
    this.#upstream = new URL(/server: (\S+)/.exec(text)![1]!)
    const [cert, key] = [field('client-certificate-data'), field('client-key-data')]
    this.#agent = new Agent({ keepAlive: true, ca: field('certificate-authority-data'), cert, key })
    this.#server = createServer((request, response) => this.#pass(request, response))
  }

  /** Listens, and writes a kubeconfig that leads here. */
  async start(kubeconfig: string): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'proxy', cluster: { server } }],
      users: [{ name: 'proxy', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } }],
      'current-context': 'proxy',
    }
    writeFileSync(kubeconfig, JSON.stringify(config))
  }

  /** True while bytes are held back. */
  get isHolding(): boolean {
    return this.#timers.size > 0
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    this.#agent.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request
    const { pathname, searchParams } = new URL(url, this.#upstream)
    const [, namespace = '', plural = ''] = /\/namespaces\/([^/]+)\/([^/]+)/.exec(pathname) ?? []
    const watched = searchParams.has('watch') ? pathname.slice(pathname.lastIndexOf('/') + 1) : undefined
    const late = (tell: () => void) => {
      const delayMs = watched === undefined ? 0 : (this.delaysMs.get(watched) ?? 0)
      return delayMs === 0 ? tell() : this.#later(delayMs, tell)
    }
    const { hostname, port, host } = this.#upstream
    const options = { hostname, port, agent: this.#agent, method, path: url, headers: { ...headers, host } }
    const onward = httpsRequest(options, (answer) => {
      if (method === 'POST' || method === 'DELETE') this.#note(namespace, `${method} ${plural} ${answer.statusCode}`)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.on('data', (chunk: Buffer) => late(() => response.write(chunk)))
      answer.on('end', () => late(() => response.end()))
      answer.on('error', () => response.destroy())
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }

  #note(namespace: string, write: string): void {
    this.writes.set(namespace, [...(this.writes.get(namespace) ?? []), write])
  }

  /** Timers of the same length go off in the order in which they were set: no byte overtakes another. */
  #later(delayMs: number, tell: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      tell()
    }, delayMs)
    this.#timers.add(timer)
  }
}
