import { describe, expect, it } from 'vitest'
import { ErrorCode } from './errors.ts'
import { Flag, FrameType, Setting, maxWindow, settingsFrame } from './frames.ts'
import { type RawPeer, dataFrame, frame, turn, until, windowUpdate } from './testing.ts'
import { type Asked, get, post, serve } from './testing-server.ts'

const ok = [{ name: ':status', value: '200' }]
const answer = ({ stream }: Asked) => stream.sendHeaders(ok, true)
const large = settingsFrame([[Setting.initialWindowSize, maxWindow], [Setting.maxFrameSize, 0xffffff]]) + windowUpdate(0, maxWindow - 65_535)

/** Takes all of a body, which is there when `end` was called. */
function bodyOf({ stream }: Asked) {
  const body = { text: '', isWhole: false }
  stream.receive({ data: (piece) => (body.text += piece.toString()), end: () => (body.isWhole = true) })
  return body
}

describe('ServerConnection', () => {
  it('answers a request, with header fields in several frames on either side', async () => {
    const { peer, asked } = await serve()
    const block = peer.headers(1, [...get, 'x-a=b']).slice(9)
    peer.send(frame(FrameType.headers, 1, block.slice(0, 3), Flag.endStream), frame(FrameType.continuation, 1, block.slice(3, 5)), frame(FrameType.continuation, 1, block.slice(5), Flag.endHeaders))
    await peer.roundTrip()
    expect([asked[0]!.head.path, asked[0]!.head.headers.get('x-a'), asked[0]!.stream.isRemoteEnded]).toEqual(['/', 'b', true])
    asked[0]!.stream.sendHeaders([...ok, { name: 'long', value: 'x'.repeat(20_000) }], true)
    expect((await peer.next(FrameType.headers)).flags).toBe(Flag.endStream)
    expect((await peer.next(FrameType.continuation)).flags).toBe(Flag.endHeaders)
  })

  it('reads header fields with padding and a priority', async () => {
    const { peer, asked } = await serve()
    const block = peer.headers(1, get).slice(9)
    peer.send(frame(FrameType.headers, 1, `\x02\0\0\0\0\x10${block}\0\0`, Flag.padded | Flag.priority | Flag.endHeaders | Flag.endStream))
    await peer.roundTrip()
    expect(asked.length).toBe(1)
  })

  it('takes header fields after a body for its end', async () => {
    const { peer, asked } = await serve()
    peer.send(peer.headers(1, post, false), dataFrame(1, 'abc'))
    await peer.roundTrip()
    const body = bodyOf(asked[0]!)
    expect(body).toEqual({ text: 'abc', isWhole: false })
    peer.send(peer.headers(1, ['checksum=x']))
    await peer.roundTrip()
    expect(body.isWhole).toBe(true)
  })

  it('answers 431 to header fields that are too many, and goes on', async () => {
    const { peer, asked } = await serve({ onRequest: answer })
    // Many times the same one, which is a byte each.
    peer.send(frame(FrameType.headers, 1, `\x40\x01a\x7f\x80\x01${'b'.repeat(255)}${'\xbe'.repeat(300)}`, Flag.endHeaders | Flag.endStream))
    expect((await peer.nextHead()).fields).toEqual({ ':status': '431' })
    peer.send(frame(FrameType.headers, 3, '\x82\x87\x84', Flag.endHeaders | Flag.endStream))
    expect((await peer.nextHead()).fields).toEqual({ ':status': '200' })
    expect(asked.length).toBe(1)
  })

  it('tells who has its answer that the rest of the question is not wanted', async () => {
    const { peer } = await serve({ onRequest: answer })
    peer.send(peer.headers(1, post, false))
    expect((await peer.nextHead()).isEnd).toBe(true)
    expect(await peer.nextCode(FrameType.rstStream)).toBe(ErrorCode.noError)
    peer.send(dataFrame(1, 'under way', Flag.endStream), windowUpdate(1, 5))
    await peer.roundTrip()
  })

  it('refuses requests once it is leaving, and ends when those that are open are answered', async () => {
    const { peer, asked, connection, closed } = await serve()
    peer.send(peer.headers(1, get))
    await peer.roundTrip()
    connection.close()
    connection.close()
    const goodbye = await peer.next(FrameType.goaway)
    expect([goodbye.payload.readUInt32BE(0), goodbye.payload.readUInt32BE(4)]).toEqual([1, ErrorCode.noError])
    peer.send(peer.headers(3, get))
    expect(await peer.nextCode(FrameType.rstStream)).toBe(ErrorCode.refusedStream)
    answer(asked[0]!)
    expect((await peer.nextHead()).stream).toBe(1)
    await closed
    expect(asked.length).toBe(1)
  })

  it.each<[string, (peer: RawPeer) => void]>([
    ['the client hangs up', (peer) => peer.end()],
    ['the network fails', (peer) => void peer.socket.destroy(new Error('cable'))],
  ])('tells every stream, once, when %s', async (_, lose) => {
    const { peer, asked, closed } = await serve()
    peer.send(peer.headers(1, get), peer.headers(3, post, false))
    await peer.roundTrip()
    const told: unknown[] = []
    for (const { stream } of asked) stream.onClosed = (code) => told.push(code)
    lose(peer)
    await closed
    expect(told).toEqual([undefined, undefined])
    answer(asked[0]!)
  })

  it('bears any number of bodies whose end is a frame of its own', async () => {
    const { peer, asked } = await serve({ onRequest: (one) => one.stream.receive({ data: () => {}, end: () => answer(one) }) })
    for (let i = 0; i < 1500; i++) peer.send(peer.headers(2 * i + 1, post, false), dataFrame(2 * i + 1, 'x'), dataFrame(2 * i + 1, '', Flag.endStream))
    await peer.roundTrip()
    expect(asked.length).toBe(1500)
  })
})

describe('ServerConnection, while nobody reads,', () => {
  it('answers pings after a large answer that is still to be read', async () => {
    const { peer, asked } = await serve()
    peer.send(large, peer.headers(1, get))
    await peer.roundTrip()
    peer.pause()
    asked[0]!.stream.sendHeaders(ok, false)
    asked[0]!.stream.send(Buffer.alloc(6 << 20), true)
    const answered = peer.roundTrip()
    await turn()
    peer.resume()
    await answered
    let bytes = 0
    for (let isEnd = false; !isEnd; ) {
      const { flags, payload } = await peer.next(FrameType.data)
      bytes += payload.length
      isEnd = Boolean(flags & Flag.endStream)
    }
    expect(bytes).toBe(6 << 20)
  })

  it('does not let answers pile up without end', async () => {
    const { peer, closed } = await serve({ onRequest: ({ stream }) => stream.sendHeaders([...ok, { name: 'x', value: 'y'.repeat(10_000) }], true) })
    peer.pause()
    for (let i = 0; i < 1000; i++) peer.send(peer.headers(2 * i + 1, get))
    await closed
    expect(peer.socket.destroyed).toBe(true)
  })

  it('is done with a client at fault at once: its streams are closed, and what it says is not looked at', async () => {
    const { peer, asked, closed } = await serve()
    peer.send(large, peer.headers(1, get))
    await peer.roundTrip()
    peer.pause()
    asked[0]!.stream.sendHeaders(ok, false)
    asked[0]!.stream.send(Buffer.alloc(3 << 20), true)
    await turn()
    peer.send(frame(FrameType.ping, 1, 'pingping'))
    await closed
    expect([asked[0]!.stream.isClosed, peer.socket.destroyed]).toEqual([true, true])
  })

  it('says goodbye once', async () => {
    const { peer, asked, closed } = await serve()
    peer.pause()
    peer.send(frame(FrameType.ping, 1, 'pingping'))
    await closed
    peer.send(peer.headers(1, get), frame(FrameType.ping, 1, 'pingping'))
    await turn()
    peer.resume()
    await peer.next(FrameType.goaway)
    await turn()
    expect([asked, peer.frames.filter(({ type }) => type === FrameType.goaway)]).toEqual([[], []])
  })
})

describe('ServerConnection gives windows back', () => {
  const bytes = 16_384

  /** The flow-control credit that the server has returned for all streams. */
  const given = (peer: RawPeer) => peer.frames.splice(0).reduce((sum, { type, stream, payload }) => sum + (type === FrameType.windowUpdate && stream === 0 ? payload.readUInt32BE(0) : 0), 0)

  it.each<[string, (peer: RawPeer, id: number, asked: () => Asked) => void]>([
    ['what was read', (peer, id) => peer.send(dataFrame(id, 'x'.repeat(bytes), Flag.endStream))],
    ['padding', (peer, id) => peer.send(dataFrame(id, `\xff${'x'.repeat(bytes - 256)}${'\0'.repeat(255)}`, Flag.padded | Flag.endStream))],
    ['what comes after the end', (peer, id) => peer.send(dataFrame(id, 'x', Flag.endStream), dataFrame(id, 'x'.repeat(bytes)))],
    ['the rest of a frame amid which it was broken off', (peer, id, asked) => {
      const text = dataFrame(id, 'x'.repeat(bytes))
      peer.send(text.slice(0, 100))
      asked().stream.reset(ErrorCode.cancel)
      peer.send(text.slice(100))
    }],
    ['what comes for a stream that was broken off', (peer, id, asked) => {
      asked().stream.reset(ErrorCode.cancel)
      peer.send(dataFrame(id, 'x'.repeat(bytes)))
    }],
  ])('for %s', async (_, say) => {
    const { peer, asked } = await serve({ onRequest: ({ stream }) => stream.discard() })
    // Half of the connection's window, and then some.
    const count = (8 << 20) / bytes + 4
    await peer.roundTrip()
    peer.frames.splice(0)
    for (let i = 0; i < count; i++) {
      const id = 2 * i + 1
      peer.send(peer.headers(id, post, false))
      await until('the request is there', () => asked.at(-1)?.stream.id === id)
      const { stream } = asked.at(-1)!
      say(peer, id, () => asked.at(-1)!)
      await until('what was sent has come', () => stream.isClosed || stream.receiveWindow !== 1 << 20)
      stream.sendHeaders(ok, true)
    }
    await peer.roundTrip()
    expect(given(peer)).toBeGreaterThanOrEqual(8 << 20)
  })
})
