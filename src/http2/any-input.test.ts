import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientConnection } from './client-connection.ts'
import { Flag, FrameType, defaultFrameBytes, maxWindow, preface, settingsFrame, word } from './frames.ts'
import { ServerConnection } from './server-connection.ts'
import type { Http2Stream } from './stream.ts'
import { frame, turn } from './testing.ts'

const numRuns = 200

/** Takes all that is written; what comes is said with `emit`, so that what is thrown is thrown here. */
const socket = () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => void done() })

/** Meaningful parts: requests, responses, indexed fields, and a reference to one. */
const block = fc.array(fc.constantFrom('\x82\x87\x84', '\x88', '\x08\x03100', '\x40\x01a\x01b', '\xbe', '\x83\x87\x84', '\x5c\x015'), { maxLength: 4 }).map((parts) => parts.join(''))
const number = fc.oneof(fc.nat(10), fc.constantFrom(65_535, 16_384, 100_000), fc.constantFrom(65_535, maxWindow, defaultFrameBytes, 1 << 20), fc.integer({ min: 1, max: 100_000 }))
const junk = fc.string({ unit: fc.nat(255).map((n) => String.fromCharCode(n)), maxLength: 20 })
const setting = fc.tuple(fc.integer({ min: 0, max: 8 }), number)
const payloads: Record<number, fc.Arbitrary<string>> = {
  [FrameType.data]: fc.oneof(junk, fc.constant('x'.repeat(defaultFrameBytes))),
  [FrameType.headers]: block,
  [FrameType.continuation]: block,
  [FrameType.rstStream]: number.map(word),
  [FrameType.settings]: fc.array(setting, { maxLength: 3 }).map((settings) => settingsFrame(settings).slice(9)),
  [FrameType.ping]: fc.constant('pingping'),
  [FrameType.goaway]: fc.tuple(number, number).map(([last, code]) => word(last) + word(code)),
  [FrameType.windowUpdate]: number.map(word),
}
const flags = fc.oneof({ weight: 30, arbitrary: fc.constantFrom(Flag.endHeaders, Flag.endHeaders, Flag.endHeaders | Flag.endStream) }, fc.subarray([Flag.endStream, Flag.endHeaders, Flag.padded, Flag.priority]).map((bits) => bits.reduce((sum, bit) => sum | bit, 0)))
const stream = fc.oneof({ weight: 100, arbitrary: fc.constantFrom(1, 3, 5) }, { weight: 1, arbitrary: fc.constantFrom(0, 2, 7, 9, maxWindow) })
/** Mostly of streams that may be open, and mostly of the right shape. */
const someFrame = fc.oneof({ weight: 100, arbitrary: fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 3, 4, 6, 7, 8, 8, 8) }, { weight: 1, arbitrary: fc.constantFrom(5, 9, 255) }).chain((type) =>
  fc.record({
    id: type === FrameType.headers ? fc.oneof(stream, fc.constantFrom(7, 9, 11, 13)) : type === FrameType.settings || type === FrameType.ping || type === FrameType.goaway ? fc.constant(0) : type === FrameType.windowUpdate ? fc.oneof(stream, fc.constant(0)) : stream,
    bits: type === FrameType.settings || type === FrameType.ping ? fc.constantFrom(0, Flag.ack) : flags,
    payload: fc.oneof({ weight: 100, arbitrary: payloads[type] ?? junk }, { weight: 1, arbitrary: junk }),
  }).map(({ id, bits, payload }) => frame(type, id, payload, bits)),
)
const said = fc.oneof({ weight: 6, arbitrary: fc.array(someFrame, { maxLength: 40 }).map((frames) => frames.join('')) }, { weight: 1, arbitrary: junk })
const cuts = fc.array(fc.nat(500), { minLength: 1, maxLength: 6 })

/** Three requests whose bodies are still to come. */
const opened = [1, 3, 5].map((id) => frame(FrameType.headers, id, '\x83\x87\x84\x40\x01a\x01b', Flag.endHeaders)).join('')

async function hear(on: Duplex, text: string, lengths: readonly number[]): Promise<void> {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + lengths[i % lengths.length]! * (i + 1) + 1
    if (!on.destroyed) on.emit('data', bytes.subarray(at, end))
    if (i % 4 === 3) await turn()
    at = end
  }
  on.destroy()
  await turn()
}

/** One of several ways to deal with a request. */
function deal(one: Http2Stream, way: number): void {
  const ok = [{ name: ':status', value: '200' }]
  if (way % 5 === 0) one.receive({ data: () => {}, end: () => one.sendHeaders(ok, true) })
  if (way % 5 === 1) one.sendHeaders(ok, true)
  if (way % 5 === 2) one.receive({ data: () => one.reset(8), end: () => one.reset(8) })
  if (way % 5 === 3) {
    one.onRoom = () => void one.send(Buffer.alloc(10), true)
    one.sendHeaders(ok, false)
    one.send(Buffer.alloc(200_000))
  }
}

describe('whatever comes', () => {
  it('ServerConnection throws nothing, and tells every stream once that it is over', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(9), said, cuts, fc.nat(100), async (start, text, lengths, way) => {
        const on = socket()
        let closed = 0
        const told = new Map<Http2Stream, number>()
        const connection = new ServerConnection({
          socket: on,
          maxStreams: 3,
          now: () => 0,
          onRequest(one) {
            told.set(one, 0)
            one.onClosed = () => told.set(one, told.get(one)! + 1)
            expect(Array.from(told.values()).filter((n) => n === 0).length).toBeLessThanOrEqual(3)
            deal(one, way + told.size)
          },
          onClosed: () => closed++,
        })
        await hear(on, start > 0 ? preface + settingsFrame([]) + opened + text : text, lengths)
        expect([closed, connection.isClosed, Array.from(told.values()).filter((n) => n !== 1)]).toEqual([1, true, []])
      }),
      { numRuns },
    )
  })

  it('ClientConnection throws nothing, and tells every request once that it is over, after its end', async () => {
    await fc.assert(
      fc.asyncProperty(said, cuts, fc.integer({ min: 3, max: 8 }), async (text, lengths, asked) => {
        const on = socket()
        let closed = 0
        const connection = new ClientConnection({ socket: on, streamWindow: 1 << 20, connectionWindow: 1 << 21, onHeard: () => {}, onLeaving: () => {}, onClosed: () => closed++ })
        const heard = Array.from({ length: asked }, (_, i) => {
          const log: string[] = []
          const cancel = connection.request({ fields: [{ name: ':method', value: 'GET' }], body: i % 2 ? Buffer.alloc(100_000) : undefined }, {
            head: () => log.push('head'),
            data: () => (i % 4 === 3 ? cancel() : log.push('data')),
            end: () => log.push('end'),
            closed: () => log.push('closed'),
          })
          return log
        })
        await hear(on, text, lengths)
        expect(closed).toBe(1)
        for (const log of heard) expect(log.join(' ')).toMatch(/^(head (data )*(end )?)?closed$/)
      }),
      { numRuns },
    )
  })
})
