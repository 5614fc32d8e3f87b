import { type RemoteInfo, type Socket, createSocket } from 'node:dgram'
import type { Clock } from '../../base/clock.ts'
import type { Target } from '../routes/routes.ts'
import type { Balancer } from './balancer.ts'
import type { Forwarder } from './forwarder.ts'

/** The idle timeout of a flow. */
const idleMs = 60_000

/** The maximum number of flows of a listener. The flow that was idle longest is dropped first. */
const mostFlows = 2000

interface Flow {
  target: Target
  socket: Socket
  isConnected: boolean
  usedAtMs: number
  /** Datagrams that no endpoint has answered yet. If an endpoint refuses them, they are sent to the next one. */
  unanswered: Buffer[]
  /** Endpoints that were not tried for this client. */
  left: Target[]
}

/** The maximum number of unanswered datagrams to keep. */
const mostUnanswered = 8

/** Forwards the datagrams of each client to one endpoint, and its responses back. */
export class UdpForwarder implements Forwarder {
  readonly #balancer: Balancer
  readonly #clock: Clock
  readonly #flows = new Map<string, Flow>()
  #socket: Socket | undefined
  #cancelSweep = () => {}

  constructor(balancer: Balancer, clock: Clock) {
    this.#balancer = balancer
    this.#clock = clock
  }

  listen({ address, port }: Target): Promise<void> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    this.#socket = socket
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close()
        reject(error)
      })
      socket.bind(port, address, () => {
        socket.removeAllListeners('error')
        // The client of an undeliverable response is gone.
        socket.on('error', () => {})
        socket.on('message', (datagram, client) => this.#send(datagram, client))
        this.#sweepLater()
        resolve()
      })
    })
  }

  get connections(): number {
    return this.#flows.size
  }

  /** Ends flows to removed endpoints: the next datagram starts a new flow. */
  targetsChanged(): void {
    for (const [key, flow] of this.#flows) if (!this.#balancer.has(flow.target)) this.#end(key, flow)
  }

  stopListening(): void {
    this.close()
  }

  close(): void {
    this.#cancelSweep()
    for (const [key, flow] of this.#flows) this.#end(key, flow)
    this.#socket?.close()
    this.#socket = undefined
  }

  #send(datagram: Buffer, client: RemoteInfo): void {
    const key = `${client.address} ${client.port}`
    const flow = this.#flows.get(key) ?? this.#open(key, client, this.#balancer.order(client.address), [])
    if (!flow) return
    flow.usedAtMs = this.#clock.now()
    // A used flow moves to the end of the map, so the first one was idle longest.
    this.#flows.delete(key)
    this.#flows.set(key, flow)
    if (flow.unanswered.length < mostUnanswered) flow.unanswered.push(datagram)
    if (flow.isConnected) flow.socket.send(datagram, () => {})
  }

  #open(key: string, client: RemoteInfo, order: Target[], unanswered: Buffer[]): Flow | undefined {
    const [target, ...left] = order
    if (!target) return undefined
    const socket = createSocket(target.address.includes(':') ? 'udp6' : 'udp4')
    const flow: Flow = { target, socket, isConnected: false, usedAtMs: this.#clock.now(), unanswered, left }
    socket.on('message', (answer) => {
      if (flow.unanswered.length > 0) this.#balancer.connected(client.address, target)
      flow.unanswered = []
      flow.usedAtMs = this.#clock.now()
      this.#socket?.send(answer, client.port, client.address, () => {})
    })
    // There is no route to the endpoint, or an ICMP error says that no process listens on its port.
    socket.on('error', () => {
      if (this.#flows.get(key) !== flow) return
      this.#end(key, flow)
      if (flow.unanswered.length > 0) this.#open(key, client, flow.left, flow.unanswered)
    })
    socket.once('connect', () => {
      if (this.#flows.get(key) !== flow) return
      flow.isConnected = true
      for (const datagram of flow.unanswered) socket.send(datagram, () => {})
    })
    // Without a callback: `connect` would call it with the error instead of emitting `error`.
    socket.connect(target.port, target.address)
    this.#flows.set(key, flow)
    const oldest = this.#flows.entries().next().value
    if (this.#flows.size > mostFlows && oldest) this.#end(...oldest)
    return flow
  }

  #end(key: string, { socket }: Flow): void {
    this.#flows.delete(key)
    socket.close()
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#clock.after(idleMs, () => {
      const silentSinceMs = this.#clock.now() - idleMs
      for (const [key, flow] of this.#flows) if (flow.usedAtMs <= silentSinceMs) this.#end(key, flow)
      this.#sweepLater()
    })
  }
}
