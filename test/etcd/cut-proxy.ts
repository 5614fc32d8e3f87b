import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'

type Mode = 'pass' | 'refuse' | 'swallow answers' | 'silent'

/** A TCP proxy in front of a member: it passes bytes on, or breaks the link in one of several ways. */
export class CutProxy {
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #mode: Mode = 'pass'

  constructor(targetPort: number) {
    this.#target = targetPort
  }

  /** Resolves to the proxy's URL. */
  listen(): Promise<string> {
    const server = createServer((socket) => this.#accept(socket))
    this.#server = server
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)))
  }

  /** New and open connections behave so from now on. `refuse` breaks those that are open. */
  set(mode: Mode): void {
    this.#mode = mode
    if (mode === 'refuse') this.cut()
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') return void client.destroy()
    const server = connect(this.#target, '127.0.0.1')
    for (const [from, to, passes] of [
      [client, server, () => this.#mode !== 'silent'],
      [server, client, () => this.#mode === 'pass'],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => passes() && to.write(bytes))
      from.on('error', () => {})
      from.once('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
    }
  }
}
