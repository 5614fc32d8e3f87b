import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../connection.ts'
import { headerDictionary } from './dictionary.ts'
import { type Frame, FrameReader, controlFrame, dataFrame, finFlag, frameType, words } from './frames.ts'
import { HeaderCodec, parseHeaders } from './header-block.ts'
import { SpdySession, type SpdyStream } from './session.ts'

const text = (value: string) => Buffer.concat([words(Buffer.byteLength(value)), Buffer.from(value)])
const block = (headers: Record<string, string>) => Buffer.concat([words(Object.keys(headers).length), ...Object.entries(headers).flatMap(([name, value]) => [text(name), text(value)])])

describe('header blocks', () => {
  it('are packed with the dictionary that everybody has: its checksum comes first', async () => {
    expect(headerDictionary).toHaveLength(1423)
    const pack = new HeaderCodec('pack')
    expect((await pack.run(words(0))).subarray(2, 6).toString('hex')).toBe('e3c6a7c2')
    pack.close()
  })

  it('are packed one after the other, each as it comes', async () => {
    const [pack, unpack] = [new HeaderCodec('pack'), new HeaderCodec('unpack')]
    for (const port of ['80', '443', '80']) {
      const packed = await pack.run(block({ StreamType: 'data', port }))
      expect(parseHeaders(await unpack.run(packed))).toEqual(new Map([['streamtype', 'data'], ['port', port]]))
    }
    pack.close()
    unpack.close()
  })

  it.each([['that end too soon', Buffer.concat([words(1), text('a')])], ['with a length beyond their end', Buffer.concat([words(1, 9), Buffer.from('a')])]])('are refused %s', (_what, bytes) => {
    expect(() => parseHeaders(bytes)).toThrow(RangeError)
  })
})

/** A client on a connection that has no wire. */
class Client implements Connection {
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}
  isPaused = false
  isClosed = false
  readonly #pack = new HeaderCodec('pack')
  readonly #frames = new FrameReader()
  readonly heard: Frame[] = []
  readonly streams: SpdyStream[] = []
  #wake = () => {}

  constructor() {
    SpdySession.serve(this, (stream) => {
      this.streams.push(stream)
      this.#wake()
    })
  }

  send(bytes: Buffer): boolean {
    this.heard.push(...this.#frames.push(bytes))
    this.#wake()
    return true
  }

  async open(id: number, headers: Record<string, string>): Promise<SpdyStream> {
    const before = this.streams.length
    this.onMessage(controlFrame(frameType.synStream, 0, Buffer.concat([words(id, 0), Buffer.alloc(2), await this.#pack.run(block(headers))])))
    await this.until(() => this.streams.length > before)
    return this.streams.at(-1)!
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  drained(resume: () => void): void {
    resume()
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  close(): void {
    this.isClosed = true
    this.#wake()
  }
}

/** Two ends of a connection. */
function wire(): [Connection, Connection] {
  const end = (): Connection => ({ onMessage: () => {}, onClose: () => {}, send: () => true, drained: (resume) => resume(), pause() {}, resume() {}, close() {} })
  const [near, far] = [end(), end()]
  const join = (from: Connection, to: Connection) => {
    from.send = (bytes) => (to.onMessage(bytes), true)
    from.close = () => to.onClose()
  }
  join(near, far)
  join(far, near)
  return [near, far]
}

describe('SpdySession', () => {
  it('answers streams, and carries data both ways to their ends', async () => {
    const client = new Client()
    const stream = await client.open(1, { streamtype: 'data', port: '80' })
    expect(stream.headers.get('port')).toBe('80')
    expect(client.heard[0]).toMatchObject({ type: frameType.synReply })
    const frames = Buffer.concat([dataFrame(1, 0, Buffer.from('he')), dataFrame(1, finFlag, Buffer.from('llo'))])
    for (const byte of frames) client.onMessage(Buffer.from([byte]))
    let said = ''
    stream.on('data', (piece: Buffer) => (said += piece.toString()))
    await once(stream, 'end')
    expect(said).toBe('hello')
    stream.end('bye')
    await client.until(() => client.heard.length >= 3)
    expect(client.heard.slice(1)).toEqual([
      { kind: 'data', streamId: 1, flags: 0, content: Buffer.from('bye') },
      { kind: 'data', streamId: 1, flags: finFlag, content: Buffer.alloc(0) },
    ])
  })

  it('ends a stream that the client resets', async () => {
    const client = new Client()
    const stream = await client.open(1, {})
    const closed = new Promise((resolve) => stream.once('close', resolve))
    client.onMessage(controlFrame(frameType.rstStream, 0, words(1, 5)))
    await closed
    expect(client.heard).toHaveLength(1)
  })

  it('answers a ping', async () => {
    const client = new Client()
    client.onMessage(controlFrame(frameType.ping, 0, words(7)))
    await client.until(() => client.heard.length > 0)
    expect(client.heard).toEqual([{ kind: 'control', type: frameType.ping, flags: 0, content: words(7) }])
  })

  it('reads no more while a stream has no room', async () => {
    const client = new Client()
    const stream = await client.open(1, {})
    client.onMessage(dataFrame(1, finFlag, Buffer.alloc(100_000)))
    client.onMessage(controlFrame(frameType.ping, 0, words(1)))
    await client.until(() => client.heard.length > 1)
    expect(client.isPaused).toBe(true)
    await stream.toArray()
    expect(client.isPaused).toBe(false)
  })

  it('reads on once a stream was read to its end, although it stays open', async () => {
    const client = new Client()
    const stream = await client.open(1, {})
    client.onMessage(dataFrame(1, 0, Buffer.alloc(100_000)))
    client.onMessage(dataFrame(1, finFlag, Buffer.alloc(0)))
    client.onMessage(controlFrame(frameType.ping, 0, words(1)))
    await client.until(() => client.heard.length > 1)
    expect(client.isPaused).toBe(true)
    stream.resume()
    await once(stream, 'end')
    expect([client.isPaused, stream.destroyed]).toEqual([false, false])
  })

  it('as a client opens streams, and reads what was sent before the server reset them', async () => {
    const [near, far] = wire()
    SpdySession.serve(far, (stream) => {
      stream.end(`${stream.headers.get('streamtype')} of server`, () => stream.destroy())
    })
    const session = SpdySession.client(near)
    const streams = [await session.open({ streamType: 'error' }), await session.open({ streamType: 'data' })]
    expect(await Promise.all(streams.map((stream) => textOf(stream)))).toEqual(['error of server', 'data of server'])
    far.close()
    await expect(session.open({})).rejects.toThrow('the connection is closed')
  })

  it.each([
    ['frames of another version', Buffer.from([0x80, 0x02, 0, 1, 0, 0, 0, 0])],
    ['headers that are none', controlFrame(frameType.synStream, 0, Buffer.from('not headers at all'))],
    ['a frame that is too short', controlFrame(frameType.rstStream, 0, Buffer.alloc(1))],
  ])('hangs up on %s', async (_what, bytes) => {
    const client = new Client()
    client.onMessage(bytes)
    await client.until(() => client.isClosed)
    expect(client.streams).toHaveLength(0)
  })
})
