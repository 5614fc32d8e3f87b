import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { codes } from './message.ts'

interface UpstreamOptions {
  /** The machine's resolvers, in order of preference. */
  servers: readonly string[]
  clock: Clock
  random: Random
  /** Default: 53. */
  port?: number
}

const attemptMs = 2000
/** The maximum number of pending queries. Further queries fail at once. */
const mostWaiting = 1000
/** The number of attempts for each resolver. */
const rounds = 2

/** Forwards queries to the resolvers of this machine only. */
export class Upstream {
  readonly #options: UpstreamOptions
  #waiting = 0

  constructor(options: UpstreamOptions) {
    this.#options = options
  }

  /** Resolves to the first response of a resolver; undefined if none responds. */
  async ask(query: Buffer, overTcp: boolean): Promise<Buffer | undefined> {
    const { servers } = this.#options
    if (this.#waiting >= mostWaiting) return undefined
    this.#waiting++
    try {
      let failure: Buffer | undefined
      for (let round = 0; round < rounds; round++) {
        for (const server of servers) {
          const answer = await (overTcp ? this.#askTcp(query, server) : this.#askUdp(query, server))
          if (answer && !isFailure(answer)) return answer
          failure ??= answer
        }
        // A resolver that reports a failure is not asked again.
        if (failure) return failure
      }
      return undefined
    } finally {
      this.#waiting--
    }
  }

  /** Each query has its own port and id, so that forged responses are unlikely to match. */
  #askUdp(query: Buffer, server: string): Promise<Buffer | undefined> {
    const { clock, random, port = 53 } = this.#options
    const id = Math.floor(random.next() * 65_536)
    const sent = Buffer.from(query)
    sent.writeUInt16BE(id, 0)
    return new Promise((resolve) => {
      const socket = createSocket(server.includes(':') ? 'udp6' : 'udp4')
      let isEnded = false
      const end = (answer: Buffer | undefined) => {
        if (isEnded) return
        isEnded = true
        cancel()
        socket.close()
        resolve(answer)
      }
      const cancel = clock.after(attemptMs, () => end(undefined))
      socket.on('error', () => end(undefined))
      socket.on('message', (message) => {
        if (!isAnswerTo(sent, message)) return
        message.writeUInt16BE(query.readUInt16BE(0), 0)
        end(message)
      })
      socket.once('connect', () => socket.send(sent))
      // Without a callback: `connect` would call it with an error, such as a resolver without a route.
      socket.connect(port, server)
    })
  }

  #askTcp(query: Buffer, server: string): Promise<Buffer | undefined> {
    const { clock, port = 53 } = this.#options
    return new Promise((resolve) => {
      const socket = connect({ host: server, port })
      let received = Buffer.alloc(0)
      const end = (answer: Buffer | undefined) => {
        cancel()
        socket.destroy()
        resolve(answer)
      }
      const cancel = clock.after(attemptMs, () => end(undefined))
      socket.on('error', () => end(undefined))
      socket.once('close', () => end(undefined))
      socket.on('data', (piece: Buffer) => {
        received = Buffer.concat([received, piece])
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
        const message = received.subarray(2, 2 + received.readUInt16BE(0))
        end(isAnswerTo(query, message) ? message : undefined)
      })
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.length)
      socket.write(Buffer.concat([length, query]))
    })
  }
}

const headerSize = 12

const isAnswerTo = (query: Buffer, message: Buffer): boolean =>
  message.length >= headerSize && message.readUInt16BE(0) === query.readUInt16BE(0) && (message[2]! & 0x80) !== 0

const isFailure = (message: Buffer): boolean =>
  [codes.serverFailure, codes.refused, codes.notImplemented].some((code) => code === (message[3]! & 15))
