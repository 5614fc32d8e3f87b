import { type Socket as UdpSocket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import type { Route, Target } from '../routes/routes.ts'
import { ServiceForwarding, openFailure } from './service-forwarding.ts'

const address = '127.128.99.7'
const failures: string[] = []
let forwarding: ServiceForwarding
const opened: { close(): unknown }[] = []

beforeEach(() => {
  failures.length = 0
  forwarding = new ServiceForwarding({
    clock: systemClock, random: new SeededRandom(3), nodeAddresses: ['127.0.0.1'],
    isReserved: (listener) => listener === `UDP ${address}:53`,
    failed: (route, at, error) => void failures.push(openFailure(route, at, error).reason),
  })
})
afterEach(() => {
  forwarding.close()
  for (const one of opened.splice(0)) one.close()
})

const route = (internal: Target[], more: Partial<Route> = {}): Route => ({
  namespace: 'default', name: 'web', portName: '', protocol: 'TCP', clusterIps: [address], port: portOf(), nodePort: undefined, affinityMs: undefined, internal, external: internal, isExternalLocal: false, ...more,
})
let nextPort = 20_000 + (process.pid % 5000)
const portOf = () => nextPort++

/** A TCP endpoint on an address of its own, which does `serve` with each connection. */
async function endpoint(serve: (socket: Socket) => void, host = '127.0.0.1'): Promise<Target & { server: Server }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return { address: host, port: (server.address() as AddressInfo).port, server }
}

const saying = (text: string) => (socket: Socket) => void socket.end(text)
const isOpen = () => vi.waitFor(() => expect(forwarding.size.listeners).toBeGreaterThan(0), { interval: 5 })

/** Connects and reads to the end; the text `reset` or the code where there is none. */
async function ask({ port }: Route, at = address, say = ''): Promise<string> {
  const socket = connect({ host: at, port, allowHalfOpen: true })
  socket.end(say)
  return buffer(socket).then(String, (error: NodeJS.ErrnoException) => error.code!)
}

describe('ServiceForwarding', () => {
  it('opens a port while there are endpoints, and refuses while there are none', async () => {
    const one = await endpoint(saying('one'))
    const web = route([one])
    forwarding.update('default/web', [web])
    await isOpen()
    expect(await ask(web)).toBe('one')
    forwarding.update('default/web', [{ ...web, internal: [], external: [] }])
    expect(await ask(web)).toBe('ECONNREFUSED')
    forwarding.update('default/web', [web])
    await isOpen()
    expect(await ask(web)).toBe('one')
    forwarding.update('default/web', [])
    expect(await ask(web)).toBe('ECONNREFUSED')
  })

  it('spreads connections over the endpoints, and keeps a client with its own where the service wants that', async () => {
    const targets = await Promise.all(['a', 'b', 'c'].map((text) => endpoint(saying(text))))
    const web = route(targets)
    forwarding.update('default/web', [web])
    await isOpen()
    const answers = async () => new Set(await Promise.all(Array.from({ length: 40 }, () => ask(web))))
    expect(await answers()).toEqual(new Set(['a', 'b', 'c']))
    forwarding.update('default/web', [{ ...web, affinityMs: 10_000 }])
    const first = await ask(web)
    expect(await answers()).toEqual(new Set([first]))
    // Its endpoint is gone: the client gets another, and stays with that one.
    forwarding.update('default/web', [{ ...web, affinityMs: 10_000, internal: targets.filter((_, i) => 'abc'[i] !== first) }])
    const second = await ask(web)
    expect(second).not.toBe(first)
    expect(await answers()).toEqual(new Set([second]))
  })

  it('tries another endpoint when one refuses, and resets the client when all do', async () => {
    const one = await endpoint(saying('one'))
    const dead = await endpoint(() => {})
    dead.server.close()
    const web = route([dead, one])
    forwarding.update('default/web', [web])
    await isOpen()
    expect(new Set(await Promise.all(Array.from({ length: 30 }, () => ask(web, address, 'GET /'))))).toEqual(new Set(['one']))
    forwarding.update('default/web', [{ ...web, internal: [dead] }])
    expect(await ask(web)).toBe('ECONNRESET')
  })

  it('passes on each direction to its end, however much it is', async () => {
    // Answers only when it has read everything.
    const echo = await endpoint((socket) => {
      const pieces: Buffer[] = []
      socket.on('data', (piece: Buffer) => pieces.push(piece)).once('end', () => socket.end(Buffer.concat(pieces)))
    })
    const web = route([echo])
    forwarding.update('default/web', [web])
    await isOpen()
    const large = 'x'.repeat(8_000_000)
    expect((await ask(web, address, large)).length).toBe(large.length)
    await vi.waitFor(() => expect(forwarding.size.connections).toBe(0), { interval: 5 })
  })

  it('does not read from a client faster than its endpoint does', async () => {
    let held: Socket | undefined
    const slow = await endpoint((socket) => (held = socket.pause()))
    const web = route([slow])
    forwarding.update('default/web', [web])
    await isOpen()
    const client = connect({ host: address, port: web.port })
    await once(client, 'connect')
    client.on('error', () => {})
    const piece = Buffer.alloc(1 << 20)
    let written = 0
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 200; i++) client.write(piece, () => written++)
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    expect(written).toBeLessThan(60)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20)
    client.destroy()
    held!.destroy()
    await vi.waitFor(() => expect(forwarding.size.connections).toBe(0), { interval: 5 })
  })

  it.each<[string, (client: Socket, endpoint: Socket) => void]>([
    ['the client', (client) => void client.resetAndDestroy()],
    ['the endpoint', (_, end) => void end.resetAndDestroy()],
  ])('ends both sides when %s resets, and keeps nothing', async (_, reset) => {
    let end: Socket | undefined
    const one = await endpoint((socket) => (end = socket.resume()))
    const web = route([one])
    forwarding.update('default/web', [web])
    await isOpen()
    const client = connect({ host: address, port: web.port })
    client.on('error', () => {}).resume()
    await vi.waitFor(() => expect(end).toBeDefined(), { interval: 5 })
    const closed = Promise.all([client, end!].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    reset(client, end!)
    await closed
    await vi.waitFor(() => expect(forwarding.size.connections).toBe(0), { interval: 5 })
  })

  it('lets connections go on whose endpoint takes no more, and whose service is gone', async () => {
    const echo = await endpoint((socket) => void socket.pipe(socket))
    const web = route([echo])
    forwarding.update('default/web', [web])
    await isOpen()
    const client = connect({ host: address, port: web.port })
    const say = async (text: string) => {
      client.write(text)
      return String((await once(client, 'data'))[0])
    }
    expect(await say('before')).toBe('before')
    forwarding.update('default/web', [])
    expect(await say('after')).toBe('after')
    forwarding.close()
    await once(client, 'close')
  })

  it('opens node ports at the addresses of the node', async () => {
    const one = await endpoint(saying('one'))
    const web = route([], { external: [one], nodePort: portOf() })
    forwarding.update('default/web', [web])
    await isOpen()
    expect(await ask({ ...web, port: web.nodePort! }, '127.0.0.1')).toBe('one')
    expect(await ask(web)).toBe('ECONNREFUSED')
  })

  it('says of a port that others have, once, and opens it when they have gone', async () => {
    const one = await endpoint(saying('one'))
    const web = route([one])
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(web.port, '0.0.0.0', resolve))
    forwarding.update('default/web', [web])
    await vi.waitFor(() => expect(failures).toEqual(['PortInUse']), { interval: 5 })
    other.close()
    await vi.waitFor(() => expect(forwarding.size.listeners).toBe(1), { timeout: 4000, interval: 20 })
    expect(failures).toEqual(['PortInUse'])
  })

  it('leaves ports alone that the cluster has otherwise', async () => {
    forwarding.update('kube-system/kube-dns', [route([{ address: '127.0.0.1', port: 9 }], { protocol: 'UDP', port: 53 })])
    await new Promise(setImmediate)
    expect([forwarding.size.listeners, failures]).toEqual([0, []])
  })
})

describe('ServiceForwarding of datagrams', () => {
  async function udp(answer?: string): Promise<Target & { socket: UdpSocket; heard: string[] }> {
    const socket = createSocket('udp4')
    const heard: string[] = []
    socket.on('message', (datagram, from) => {
      heard.push(String(datagram))
      if (answer !== undefined) socket.send(`${answer}:${String(datagram)}`, from.port, from.address)
    })
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    opened.push({ close: () => { try { socket.close() } catch { /* The test has closed it. */ } } })
    return { address: '127.0.0.1', port: socket.address().port, socket, heard }
  }
  async function client(port: number) {
    const socket = createSocket('udp4')
    opened.push(socket)
    await new Promise<void>((resolve) => socket.connect(port, address, resolve))
    return async (text: string) => {
      socket.send(text)
      return String((await once(socket, 'message'))[0])
    }
  }

  it('passes on datagrams and their answers, each client as one flow', async () => {
    const [a, b] = [await udp('a'), await udp('b')]
    const web = route([a, b], { protocol: 'UDP' })
    forwarding.update('default/web', [web])
    await isOpen()
    for (let i = 0; i < 8; i++) {
      const say = await client(web.port)
      const first = await say('1')
      expect(await say('2')).toBe(first.replace('1', '2'))
    }
    expect([a.heard.length > 0, b.heard.length > 0]).toEqual([true, true])
    expect(forwarding.size.connections).toBe(8)
  })

  it('asks another endpoint where nobody listens, and where one has gone', async () => {
    const [a, b] = [await udp('a'), await udp('b')]
    const dead = await udp()
    dead.socket.close()
    const web = route([dead, a], { protocol: 'UDP' })
    forwarding.update('default/web', [web])
    await isOpen()
    const says = await Promise.all(Array.from({ length: 10 }, () => client(web.port)))
    for (const say of says) expect(await say('x')).toBe('a:x')
    forwarding.update('default/web', [{ ...web, internal: [b] }])
    expect(await says[0]!('y')).toBe('b:y')
  })

  it('asks another endpoint where the address of one cannot be connected', async () => {
    const a = await udp('a')
    // A broadcast address: connect(2) refuses it.
    const web = route([{ address: '255.255.255.255', port: 9 }, a], { protocol: 'UDP' })
    forwarding.update('default/web', [web])
    await isOpen()
    const says = await Promise.all(Array.from({ length: 10 }, () => client(web.port)))
    for (const say of says) expect(await say('x')).toBe('a:x')
  })
})
