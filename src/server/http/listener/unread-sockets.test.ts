import { type Socket, connect } from 'node:net'
import { type TLSSocket, connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { createAuthority, issueServerCertificate } from '../../auth/certificates.ts'
import { type Exchange, wholeBody } from '../exchange/exchange.ts'
import { type Listener, listen } from './listener.ts'
import { UnreadSockets } from './unread-sockets.ts'

const issuedMs = Date.now()
const authority = createAuthority(issuedMs)
const serving = issueServerCertificate(authority, ['127.0.0.1'], issuedMs)

describe('UnreadSockets', () => {
  const limits = { unreadMs: 120, lingerMs: 10 }
  const socketOf = (writableLength: number, writableEnded = false) => ({ bytesWritten: 1000, writableLength, writableEnded, isDestroyed: false, destroy() {
    this.isDestroyed = true
  } })

  it.each<[string, ReturnType<typeof socketOf>, number | undefined]>([
    ['one that has all', socketOf(0), undefined],
    ['one that reads nothing', socketOf(500), 120],
    ['one that reads nothing of the last answer', socketOf(500, true), 120],
    ['one that has all and does not close', socketOf(0, true), 10],
  ])('ends %s after its time', (_, socket, limitMs) => {
    const unread = new UnreadSockets(limits)
    const endsAt = Array.from({ length: 100 }, (_each, i) => i * 5).find((nowMs) => {
      unread.check([socket], nowMs)
      return socket.isDestroyed
    })
    expect(endsAt).toBe(limitMs)
  })

  it('keeps one that reads a little now and then, whatever is added, and one that may pause', () => {
    const unread = new UnreadSockets(limits)
    const [slow, paused] = [socketOf(500), socketOf(500)]
    unread.allowPauses(paused)
    for (let nowMs = 0; nowMs < 2000; nowMs += 100) {
      slow.bytesWritten += 10
      slow.writableLength += 9
      unread.check([slow, paused], nowMs)
    }
    expect([slow.isDestroyed, paused.isDestroyed]).toEqual([false, false])
  })

  it('ends one to which is only added', () => {
    const unread = new UnreadSockets(limits)
    const stuck = socketOf(500)
    for (let nowMs = 0; nowMs <= 120; nowMs += 40) {
      stuck.bytesWritten += 10
      stuck.writableLength += 10
      unread.check([stuck], nowMs)
    }
    expect(stuck.isDestroyed).toBe(true)
  })
})

describe('listen() ends a connection', () => {
  let clock: VirtualClock
  let listener: Listener
  let client: Socket | undefined
  let handle: (exchange: Exchange) => Promise<void>

  beforeEach(async () => {
    clock = new VirtualClock(0)
    listener = await listen({ address: '127.0.0.1', port: 0, serving, clientAuthorities: [authority.certificate], handle: (e) => handle(e), clock, bodyTimeoutMs: 200 })
  })
  afterEach(async () => {
    client?.destroy()
    await listener.close(0)
  })

  const overTls = (protocol: string): Promise<TLSSocket> =>
    new Promise((resolve) => {
      const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: listener.port, ca: authority.certificate, ALPNProtocols: [protocol], allowHalfOpen: true } as object, () => resolve(socket))
      client = socket.on('error', () => {})
    })
  /** Writes to a socket until the other side refuses it. */
  const writesUntilClosed = async (socket: Socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const timer = setInterval(() => socket.write('x'), 5)
    await closed
    clearInterval(timer)
  }
  const large = (): Exchange['respond'] extends (code: number, headers: never, body: infer B) => void ? B : never => {
    function* pieces() {
      for (let i = 0; i < 1000; i++) yield Buffer.alloc(100_000, 'x')
    }
    return { length: 100_000_000, pieces: pieces() }
  }

  it('whose client speaks plain HTTP and does not close it', async () => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true })
    client = socket.on('error', () => {})
    const ended = new Promise((resolve) => socket.resume().once('end', resolve))
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await ended
    expect(socket.destroyed).toBe(false)
    clock.advance(20_000)
    await writesUntilClosed(socket)
  })

  it('whose client asked for an upgrade, was refused and does not close it', async () => {
    handle = async (exchange) => exchange.respond(401, {}, wholeBody(Buffer.from('no')))
    const socket = await overTls('http/1.1')
    const ended = new Promise((resolve) => socket.resume().once('end', resolve))
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: a\r\n\r\n')
    await ended
    expect(listener.connections()).toBe(1)
    clock.advance(20_000)
    await expect.poll(() => listener.connections()).toBe(0)
  })

  it.each([['a request', ''], ['a request for an upgrade', 'connection: Upgrade\r\nupgrade: a\r\n']])('whose client reads nothing of the answer to %s over HTTP/1.1', async (_, headers) => {
    const answered = new Promise<void>((resolve) => {
      handle = async (exchange) => {
        exchange.respond(200, {}, large())
        resolve()
      }
    })
    const socket = await overTls('http/1.1')
    socket.pause().write(`GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n`)
    await answered
    clock.advance(100_000)
    expect(listener.connections()).toBe(1)
    clock.advance(60_000)
    await expect.poll(() => listener.connections()).toBe(0)
  })

  it('whose client reads nothing over HTTP/2, although it is said goodbye', async () => {
    const answered = new Promise<void>((resolve) => {
      handle = async (exchange) => {
        exchange.respond(200, {}, large())
        resolve()
      }
    })
    const socket = await overTls('h2')
    const frame = (type: number, flags: number, stream: number, payload: number[]) => Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
    const settings = frame(4, 0, 0, [0, 4, 0x7f, 0xff, 0xff, 0xff])
    const window = frame(8, 0, 0, [0x7f, 0, 0, 0])
    const get = frame(1, 5, 1, [0x82, 0x87, 0x84, 0x41, 1, 0x78])
    socket.pause().write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, window, get]))
    await answered
    clock.advance(100_000)
    expect(listener.connections()).toBe(1)
    clock.advance(400_000)
    await expect.poll(() => listener.connections()).toBe(0)
  })

  it('whose client does not send the rest of a body that nobody reads', async () => {
    handle = async (exchange) => exchange.respond(401, {}, wholeBody(Buffer.from('no')))
    const socket = await overTls('http/1.1')
    const answered = new Promise((resolve) => socket.once('data', resolve))
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf')
    await answered
    await expect.poll(() => listener.connections()).toBe(0)
  })
})
