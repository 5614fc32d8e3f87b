import { type Server, type Socket, connect, createServer } from 'node:net'
import { listen } from '../../base/listen.ts'
import type { Target } from '../routes/routes.ts'
import type { Balancer } from './balancer.ts'
import type { Forwarder } from './forwarder.ts'

/** The timeout of a connection attempt to an endpoint. */
const connectMs = 5000

/** The TCP keepalive delay. */
const keepAliveMs = 60_000

/**
 * Accepts connections on one address and port, and forwards each to an endpoint. Open connections outlive
 * `stopListening`.
 */
export class TcpForwarder implements Forwarder {
  readonly #balancer: Balancer
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(balancer: Balancer) {
    this.#balancer = balancer
    this.#server = createServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
      (client) => void this.#serve(client),
    )
  }

  listen({ address, port }: Target): Promise<void> {
    return listen(this.#server, { host: address, port, backlog: 1024 })
  }

  get connections(): number {
    return this.#sockets.size
  }

  stopListening(): void {
    this.#server.close()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * Data of the client is read only after an endpoint has accepted, so that a refused connection can be tried with
   * another endpoint.
   */
  async #serve(client: Socket): Promise<void> {
    this.#hold(client)
    const from = client.remoteAddress ?? ''
    for (const target of this.#balancer.order(from)) {
      const endpoint = await this.#connect(target)
      if (client.destroyed) return void endpoint?.destroy()
      if (!endpoint) continue
      this.#balancer.connected(from, target)
      return join(client, endpoint)
    }
    client.resetAndDestroy()
  }

  #connect({ address, port }: Target): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
      this.#hold(socket)
      const failed = () => {
        socket.destroy()
        resolve(undefined)
      }
      socket.setTimeout(connectMs, failed)
      socket.once('error', failed)
      socket.once('connect', () => {
        socket.setTimeout(0)
        socket.off('error', failed)
        resolve(socket)
      })
    })
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket)
    socket.setKeepAlive(true, keepAliveMs)
    // The event `close` follows and is handled.
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
  }
}

/** Pipes both directions. Each ends by itself, and a reset of one side resets the other. */
function join(client: Socket, endpoint: Socket): void {
  client.once('close', (hadError) => (hadError || !client.readableEnded) && endpoint.resetAndDestroy())
  endpoint.once('close', (hadError) => (hadError || !endpoint.readableEnded) && client.resetAndDestroy())
  client.pipe(endpoint)
  endpoint.pipe(client)
}
