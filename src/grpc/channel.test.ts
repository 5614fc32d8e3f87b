import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { parseAddress } from './address.ts'
import { Channel, type ChannelOptions } from './channel.ts'
import { bytes, int, string } from './fields.ts'
import { message } from './message.ts'
import { GrpcServer, type ServedCall } from './server.ts'
import { RpcError } from './status.ts'

const Text = message({ text: string(1), count: int(2), data: bytes(3) })
const echo = { path: '/test.Echo/Echo', request: Text, response: Text }
const chat = { path: '/test.Echo/Chat', request: Text, response: Text }
type Talk = ServedCall<{ text: string; count: number; data: Buffer }, { text?: string; count?: number; data?: Buffer }>

describe('Channel', () => {
  let server: GrpcServer
  let dir: string
  const channels: Channel[] = []

  const channelTo = (address: string, options: Partial<ChannelOptions> = {}): Channel => {
    const channel = new Channel({ address: parseAddress(address), clock: systemClock, ...options })
    channels.push(channel)
    return channel
  }

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'grpc-'))
    server = new GrpcServer().unary(echo, ({ text }) => {
      if (text === 'fail') throw new RpcError('NotFound', 'no such thing: “x”')
      return { text, count: text.length }
    })
  })

  afterEach(async () => {
    for (const channel of channels.splice(0)) channel.close()
    await server.close()
    rmSync(dir, { recursive: true })
  })

  it.each([
    ['TCP', () => server.listen({ port: 0 })],
    ['a Unix socket', () => server.listen({ path: join(dir, 's') })],
  ])('calls over %s', async (_, listen) => {
    const channel = channelTo(await listen())
    const answers = await Promise.all(['a', 'bb', ''].map((text) => channel.call(echo, { text })))
    expect(answers.map(({ text, count }) => [text, count])).toEqual([['a', 1], ['bb', 2], ['', 0]])
  })

  it('rejects with the status that the trailers say', async () => {
    const channel = channelTo(await server.listen({ port: 0 }))
    const error: unknown = await channel.call(echo, { text: 'fail' }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'NotFound', detail: 'no such thing: “x”', isUnsent: false, message: 'rpc error: code = NotFound desc = no such thing: “x”' })
    await expect(channel.call({ ...echo, path: '/test.Echo/None' }, {})).rejects.toMatchObject({ code: 'Unimplemented' })
    await expect(channel.call(echo, { text: 'b' })).resolves.toMatchObject({ text: 'b' })
  })

  it('streams in both directions, until either side ends', async () => {
    server.stream(chat, (call) => call.onMessage(({ count }) => {
      for (let i = 0; i < count; i++) call.send({ count: i })
    }, () => call.end()))
    const channel = channelTo(await server.listen({ port: 0 }))
    const seen: number[] = []
    await new Promise<void>((resolve, reject) => {
      const call = channel.open(chat, {
        message: ({ count }) => {
          seen.push(count)
          if (seen.length === 2) call.send({ count: 3 }, true)
        },
        closed: (error) => (error ? reject(error) : resolve()),
      })
      call.send({ count: 2 })
    })
    expect(seen).toEqual([0, 1, 0, 1, 2])
  })

  it('ends with the status of a server that ends first, and is free again', async () => {
    server.stream(chat, (call) => call.onMessage(() => call.end('Aborted', 'enough')))
    const channel = channelTo(await server.listen({ port: 0 }))
    const error = await new Promise((resolve) => void channel.open(chat, { message: () => {}, closed: resolve }).send({}))
    expect(error).toMatchObject({ code: 'Aborted' })
    await expect(channel.call(echo, { text: 'a' })).resolves.toBeDefined()
  })

  it('holds the server back while its reader does, and loses nothing', async () => {
    const data = Buffer.alloc(1 << 20)
    let talk: Talk | undefined
    server.stream(chat, (call) => {
      talk = call
      call.onMessage(() => {
        // Twelve times 1 MiB; the window is of 4.
        for (let count = 1; count <= 12; count++) if (!call.send({ count, data })) continue
        call.end()
      })
    })
    const channel = channelTo(await server.listen({ port: 0 }))
    const seen: number[] = []
    let isHeld = true
    let closed: (error: RpcError | undefined) => void
    const done = new Promise((resolve) => (closed = resolve))
    const call = channel.open(chat, { message: ({ count }) => (seen.push(count), !isHeld), closed: (e) => closed(e) })
    call.send({})
    await expect.poll(() => seen.length).toBeGreaterThan(1)
    // Another call finds the connection open.
    await channel.call(echo, { text: 'a' })
    expect(seen.length).toBeLessThan(6)
    isHeld = false
    call.resume()
    expect(await done).toBeUndefined()
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(talk).toBeDefined()
  })

  it('breaks a call off at its deadline, by its signal and by cancel()', async () => {
    const gone: string[] = []
    server.stream(chat, (call) => {
      call.onMessage(({ text }) => (call.onGone = () => gone.push(text)))
    })
    const clock = new VirtualClock(0)
    const channel = channelTo(await server.listen({ port: 0 }), { clock })
    await channel.call(echo, {})
    const failures: Promise<unknown>[] = []
    const start = (text: string, options: object) => {
      let call: { cancel(): void } | undefined
      failures.push(new Promise((resolve) => {
        const opened = channel.open(chat, { message: () => {}, closed: (e) => resolve(e?.code) }, options)
        opened.send({ text })
        call = opened
      }))
      return call!
    }
    const abort = new AbortController()
    start('deadline', { timeoutMs: 100 })
    start('signal', { signal: abort.signal })
    const call = start('cancel', {})
    await channel.call(echo, {})
    clock.advance(100)
    abort.abort()
    call.cancel()
    expect(await Promise.all(failures)).toEqual(['DeadlineExceeded', 'Canceled', 'Canceled'])
    await expect.poll(() => gone.toSorted()).toEqual(['cancel', 'deadline', 'signal'])
    await expect(channel.call(echo, {}, { signal: abort.signal })).rejects.toMatchObject({ code: 'Canceled', isUnsent: true })
  })

  it('fails what was under way when the connection is lost, and connects again', async () => {
    server.stream(chat, (call) => call.onMessage(() => server.disconnect()))
    const channel = channelTo(await server.listen({ port: 0 }))
    const error = await new Promise((resolve) => void channel.open(chat, { message: () => {}, closed: resolve }).send({}))
    expect(error).toMatchObject({ code: 'Unavailable', isUnsent: false })
    await expect(channel.call(echo, { text: 'again' })).resolves.toMatchObject({ text: 'again' })
  })

  it('connects again after the pause, although the clock of the machine was set back', async () => {
    const path = join(dir, 's')
    const channel = channelTo(`unix://${path}`)
    await expect(channel.call(echo, { text: 'a' })).rejects.toMatchObject({ code: 'Unavailable' })
    const real = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000)
    try {
      await server.listen({ path })
      await expect(channel.call(echo, { text: 'a' }, { waitForReady: true, timeoutMs: 5000 })).resolves.toMatchObject({ text: 'a' })
    } finally {
      clock.mockRestore()
    }
  })

  it('fails at once where nobody listens, with a pause between attempts; a patient call waits', async () => {
    const path = join(dir, 's')
    const clock = new VirtualClock(0)
    const channel = channelTo(`unix://${path}`, { clock })
    await expect(channel.call(echo, {})).rejects.toMatchObject({ code: 'Unavailable', isUnsent: true, detail: expect.stringContaining('ENOENT') })
    await server.listen({ path })
    // Amid the pause of 50 ms.
    await expect(channel.call(echo, {})).rejects.toMatchObject({ code: 'Unavailable', isUnsent: true })
    const patient = channel.call(echo, { text: 'a' }, { waitForReady: true })
    clock.advance(50)
    await expect(patient).resolves.toMatchObject({ text: 'a' })
  })

  it('notices a server that says nothing any more', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(join(dir, 'silent'), resolve))
    const clock = new VirtualClock(0)
    const channel = channelTo(`unix://${join(dir, 'silent')}`, { clock, heartbeat: { pingAfterMs: 1000, pingTimeoutMs: 500 } })
    const call = channel.call(echo, {})
    const failed = expect(call).rejects.toMatchObject({ code: 'Unavailable' })
    await expect.poll(() => channel.isReady).toBe(true)
    clock.advance(1000)
    clock.advance(500)
    await failed
    silent.close()
  })

  it('refuses messages that are too large, and answers that are none', async () => {
    server.unary(chat, () => ({ data: Buffer.alloc(2000) }))
    const channel = channelTo(await server.listen({ port: 0 }), { maxMessageBytes: 1000 })
    await expect(channel.call(chat, {})).rejects.toMatchObject({ code: 'ResourceExhausted' })
    const wrong = { ...echo, response: message({ count: int(1) }) }
    await expect(channel.call(wrong, { text: 'a' })).rejects.toMatchObject({ code: 'Internal', detail: expect.stringContaining('proto: ') })
  })

  it('ends its calls when it is closed', async () => {
    server.stream(chat, () => {})
    const channel = channelTo(await server.listen({ port: 0 }))
    const failed = expect(channel.call(chat, {})).rejects.toMatchObject({ code: 'Canceled' })
    channel.close()
    await failed
    await expect(channel.call(echo, {})).rejects.toMatchObject({ code: 'Canceled', isUnsent: true })
  })
})

describe('parseAddress()', () => {
  it.each<[string, object]>([
    ['http://127.0.0.1:2379', { kind: 'tcp', host: '127.0.0.1', port: 2379, tls: undefined }],
    ['https://etcd.example:2379', { kind: 'tcp', host: 'etcd.example', port: 2379, tls: {} }],
    ['https://[::1]', { kind: 'tcp', host: '::1', port: 443, tls: {} }],
    ['unix:///run/x.sock', { kind: 'unix', path: '/run/x.sock' }],
    ['unix:///@x', { kind: 'unix', path: '\0x' }],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
  })

  it.each(['', 'localhost:2379', 'ftp://a', 'unix:'])('refuses "%s"', (text) => {
    expect(() => parseAddress(text)).toThrow()
  })
})
