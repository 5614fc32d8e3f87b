import { type RemoteInfo, type Socket as UdpSocket, createSocket } from 'node:dgram'
import { type Server, type Socket, createServer } from 'node:net'
import { type Zone, answerOf } from './cluster-answers.ts'
import {
  type Query,
  type Question,
  codes,
  internetClass,
  readName,
  readQuery,
  types,
  writeAnswer,
  writeFailure,
} from './message.ts'
import type { Upstream } from './upstream.ts'

interface DnsServerOptions {
  zone: Zone
  upstream: Upstream
}

/** The idle timeout and the maximum number of TCP connections. */
const idleMs = 10_000
const mostConnections = 500
const largestMessage = 65_535

/** The maximum length of a CNAME chain. */
const mostAliases = 8

/**
 * A DNS server over UDP and TCP. It answers queries for cluster names itself and forwards all others to the machine's
 * resolvers.
 */
export class DnsServer {
  readonly #options: DnsServerOptions
  readonly #udp: UdpSocket[] = []
  readonly #tcp: Server[] = []
  readonly #connections = new Set<Socket>()

  constructor(options: DnsServerOptions) {
    this.#options = options
  }

  /** Listens on another address. Resolves to the port; port 0 selects a free one. Rejects with the system's error. */
  async listen(address: string, port: number): Promise<number> {
    const server = createServer((socket) => this.#accept(socket))
    server.maxConnections = mostConnections
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
    const taken = (server.address() as { port: number }).port
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    try {
      await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(taken, address, resolve))
    } catch (e) {
      server.close()
      socket.close()
      throw e
    }
    // The client of an undeliverable response is gone.
    socket.removeAllListeners('error').on('error', () => {})
    socket.on('message', (bytes, from) => void this.#datagram(socket, bytes, from))
    server.removeAllListeners('error').on('error', () => {})
    this.#udp.push(socket)
    this.#tcp.push(server)
    return taken
  }

  close(): void {
    for (const socket of this.#udp.splice(0)) socket.close()
    for (const server of this.#tcp.splice(0)) server.close()
    for (const socket of this.#connections) socket.destroy()
  }

  async #datagram(socket: UdpSocket, bytes: Buffer, from: RemoteInfo): Promise<void> {
    const answer = await this.answer(bytes, false)
    // The server was closed meanwhile.
    if (answer && this.#udp.includes(socket)) socket.send(answer, from.port, from.address, () => {})
  }

  #accept(socket: Socket): void {
    this.#connections.add(socket)
    socket.once('close', () => this.#connections.delete(socket))
    socket.on('error', () => {})
    socket.setTimeout(idleMs, () => socket.destroy())
    let received = Buffer.alloc(0)
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        void this.#stream(socket, received.subarray(2, end))
        received = received.subarray(end)
      }
    })
  }

  async #stream(socket: Socket, bytes: Buffer): Promise<void> {
    const answer = await this.answer(bytes, true)
    if (!answer || socket.destroyed) return void socket.destroy()
    const length = Buffer.alloc(2)
    length.writeUInt16BE(answer.length)
    socket.write(Buffer.concat([length, answer]))
  }

  /** The response to a message; undefined if it is no query. */
  async answer(bytes: Buffer, overTcp: boolean): Promise<Buffer | undefined> {
    const query = readQuery(bytes)
    if (!query) return undefined
    const { question } = query
    if (query.opcode !== 0) return writeFailure(query, codes.notImplemented)
    if (!question) return writeFailure(query, codes.formatError)
    const found =
      question.class === internetClass || question.class === types.ANY
        ? answerOf(question, this.#options.zone)
        : undefined
    if (!found) return this.#pass(query, bytes, overTcp)
    const size = overTcp ? largestMessage : query.size
    if (!found.chase) return writeAnswer(query, { ...found, isAuthoritative: true }, size)
    const followed = await this.#follow(question, found.chase)
    return writeAnswer(
      query,
      { code: followed.code, isAuthoritative: true, answers: [...found.answers, ...followed.answers] },
      size,
    )
  }

  async #pass(query: Query, bytes: Buffer, overTcp: boolean): Promise<Buffer> {
    if (!query.wantsRecursion) return writeFailure(query, codes.refused)
    return (await this.#options.upstream.ask(bytes, overTcp)) ?? writeFailure(query, codes.serverFailure)
  }

  /** Resolves the target of a CNAME, because a client that asks for an address expects it in the same response. */
  async #follow(
    { type }: Question,
    alias: readonly string[],
  ): Promise<{ code: number; answers: NonNullable<ReturnType<typeof answerOf>>['answers'] }> {
    const answers: NonNullable<ReturnType<typeof answerOf>>['answers'] = []
    let name: readonly string[] | undefined = alias
    for (let followed = 0; name && followed < mostAliases; followed++) {
      const own = answerOf({ name, type, class: internetClass }, this.#options.zone)
      if (own) {
        answers.push(...own.answers)
        name = own.chase
        continue
      }
      const answer = await this.#options.upstream.ask(questionFor(name, type), false)
      if (!answer) return { code: codes.serverFailure, answers }
      return { code: answer[3]! & 15, answers: [...answers, ...readAddresses(answer)] }
    }
    return { code: codes.noError, answers }
  }
}

/** A query for one name. The sender sets its id. */
function questionFor(name: readonly string[], type: number): Buffer {
  const labels = name.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]))
  return Buffer.concat([
    Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...labels,
    Buffer.from([0, type >> 8, type & 255, 0, internetClass]),
  ])
}

/** The CNAME and address records of a response. */
function readAddresses(message: Buffer): NonNullable<ReturnType<typeof answerOf>>['answers'] {
  const records: NonNullable<ReturnType<typeof answerOf>>['answers'] = []
  try {
    let [, at] = readName(message, 12)
    at += 4
    for (let left = message.readUInt16BE(6); left > 0; left--) {
      const [name, behind] = readName(message, at)
      const [type, ttl, length] = [
        message.readUInt16BE(behind),
        message.readUInt32BE(behind + 4),
        message.readUInt16BE(behind + 8),
      ]
      const from = behind + 10
      at = from + length
      const data = message.subarray(from, at)
      if (type === types.A && length === 4) records.push({ name, ttl, data: { type: 'A', address: data } })
      else if (type === types.AAAA && length === 16) records.push({ name, ttl, data: { type: 'AAAA', address: data } })
      else if (type === types.CNAME)
        records.push({ name, ttl, data: { type: 'CNAME', target: readName(message, from)[0] } })
    }
  } catch (e) {
    // A malformed response. The records before the error are used.
    if (!(e instanceof RangeError)) throw e
  }
  return records
}
