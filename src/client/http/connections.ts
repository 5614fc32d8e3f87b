import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { HeartbeatOptions } from '../../http2/index.ts'
import type { ClientCertificate, ClusterAccess } from '../transport/access.ts'
import { waitFor } from '../transport/retry.ts'
import { dial } from './dial.ts'
import { unsent } from './failure.ts'
import { Http1Wire } from './http1-wire.ts'
import { Http2Wire } from './http2-wire.ts'
import type { Wire } from './wire.ts'

export interface ConnectionsOptions extends HeartbeatOptions {
  access: ClusterAccess
  proxy: URL | undefined
  clock: Clock
  random: Random
  connectTimeoutMs: number
}

/** Delay after the first failure to connect. It doubles with each further failure. */
const firstPauseMs = 50
const longestPauseMs = 5000

/**
 * The connections to one server. With HTTP/2 there is one connection, and another only when watches have used the
 * streams that the server allows on the first. A server or proxy without HTTP/2 gets HTTP/1.1.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #closing = new AbortController()
  /** All HTTP/2 connections, including those that only finish their requests. */
  readonly #open = new Set<Http2Wire>()
  #certificate: ClientCertificate | undefined
  /** Connections that were opened with the current certificate and were usable when last checked. */
  #http2: Http2Wire[] = []
  #http1: Http1Wire | undefined
  /** The pending attempt to connect, shared by all waiters. */
  #dialing: Promise<void> | undefined
  #failures = 0
  #notBeforeMs = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
    if (options.access.server.protocol !== 'https:') this.#http1 = this.#openHttp1()
  }

  /**
   * Returns a connection for a request with this certificate. If there is none, returns a promise; call again when it
   * resolves, because another waiter may have taken the stream. It rejects with a TransportError.
   */
  wire(certificate: ClientCertificate | undefined, isLong: boolean): Wire | Promise<void> {
    if (certificate !== this.#certificate) this.#startOver(certificate)
    if (this.#http1) return this.#http1
    for (const wire of this.#http2) if (wire.hasRoom(isLong)) return wire
    this.#http2 = this.#http2.filter((wire) => wire.hasRoom(false))
    this.#dialing ??= this.#dial(certificate)
    return this.#dialing
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the transport is closed'))
    this.#http1?.close()
    await Promise.all(Array.from(this.#open, (wire) => wire.close(true)))
  }

  async #dial(certificate: ClientCertificate | undefined): Promise<void> {
    const { clock, random } = this.#options
    try {
      const waitMs = this.#notBeforeMs - clock.now()
      if (waitMs > 0) await waitFor(clock, waitMs, this.#closing.signal)
      const socket = (await this.#openSocket(certificate, ['h2', 'http/1.1'])) as TLSSocket
      // The certificate changed while connecting: the waiters ask again.
      if (certificate !== this.#certificate) return void socket.destroy()
      if (socket.alpnProtocol === 'h2') await this.#openHttp2(socket, certificate)
      else this.#settleForHttp1(socket)
      this.#failures = 0
      this.#notBeforeMs = 0
    } catch (e) {
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
      this.#notBeforeMs = clock.now() + pauseMs * (0.5 + random.next() / 2)
      throw unsent(e)
    } finally {
      this.#dialing = undefined
    }
  }

  #openSocket(certificate: ClientCertificate | undefined, protocols: readonly ('h2' | 'http/1.1')[]): Promise<Socket> {
    const { access, proxy, clock, connectTimeoutMs } = this.#options
    return dial({
      access,
      proxy,
      certificate,
      protocols,
      clock,
      timeoutMs: connectTimeoutMs,
      signal: this.#closing.signal,
    })
  }

  async #openHttp2(socket: Socket, certificate: ClientCertificate | undefined): Promise<void> {
    const { access, clock, connectTimeoutMs, pingAfterMs, pingTimeoutMs } = this.#options
    const { signal } = this.#closing
    signal.throwIfAborted()
    const wire = new Http2Wire(socket, {
      clock,
      pingAfterMs,
      pingTimeoutMs,
      host: access.server.host,
      onClosed: () => this.#open.delete(wire),
    })
    this.#open.add(wire)
    const cancelTimer = clock.after(connectTimeoutMs, () => void wire.close(true))
    try {
      await wire.ready()
    } finally {
      cancelTimer()
    }
    // Without this check, waiters would retry endlessly with a server that closes each connection.
    if (!wire.hasRoom(false)) throw new Error('the server has closed the connection')
    if (certificate === this.#certificate) this.#http2.push(wire)
    else void wire.close(false)
  }

  #settleForHttp1(socket: Socket): void {
    socket.destroy()
    this.#http1 = this.#openHttp1()
  }

  #openHttp1(): Http1Wire {
    const certificate = this.#certificate
    return new Http1Wire(this.#options.access.server.host, () => this.#openSocket(certificate, ['http/1.1']))
  }

  /** Lets connections with the old certificate end after their requests. */
  #startOver(certificate: ClientCertificate | undefined): void {
    this.#certificate = certificate
    for (const wire of this.#http2) void wire.close(false)
    this.#http2 = []
    this.#http1?.retire()
    if (this.#http1) this.#http1 = this.#openHttp1()
  }
}
