import { describe, expect, it } from 'vitest'
import { ErrorCode } from './errors.ts'
import { Flag, FrameType, Setting, defaultFrameBytes, frameHead, maxWindow, preface, settingsFrame, word } from './frames.ts'
import { type RawPeer, dataFrame, frame, resetFrame, windowUpdate } from './testing.ts'
import { get, post, serve } from './testing-server.ts'

const ping = frame(FrameType.ping, 0, 'pingping')
const many = (n: number, text: (i: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join('')

describe('ServerConnection breaks off the connection over', () => {
  const { protocolError, flowControlError, frameSizeError, compressionError, enhanceYourCalm } = ErrorCode
  // Stream 1 is open, and its body is still to come.
  it.each<[string, string | ((peer: RawPeer) => string), number]>([
    ['a frame that is too large', frameHead(defaultFrameBytes + 1, FrameType.headers, 0, 3), frameSizeError],
    ['DATA of a stream that was never opened', dataFrame(3, 'x'), protocolError],
    ['DATA of no stream', dataFrame(0, 'x'), protocolError],
    ['DATA of a stream of the server', dataFrame(2, 'x'), protocolError],
    ['DATA with more padding than bytes', dataFrame(1, '\x05abc', Flag.padded), protocolError],
    ['HEADERS of no stream', (peer) => peer.headers(0, get), protocolError],
    ['HEADERS of an even stream', (peer) => peer.headers(2, get), protocolError],
    ['HEADERS with more padding than bytes', frame(FrameType.headers, 3, '\x05abc', Flag.padded | Flag.endHeaders), protocolError],
    ['HEADERS too short for their priority', frame(FrameType.headers, 3, 'abc', Flag.priority | Flag.endHeaders), protocolError],
    ['HEADERS that cannot be read', frame(FrameType.headers, 3, '\xff', Flag.endHeaders), compressionError],
    ['a ping amid header fields', frame(FrameType.headers, 3, '\x82') + ping, protocolError],
    ['DATA amid header fields', frame(FrameType.headers, 3, '\x82') + dataFrame(1, 'x'), protocolError],
    ['an unknown frame amid header fields', frame(FrameType.headers, 3, '\x82') + frame(0xbe, 3), protocolError],
    ['other header fields amid header fields', (peer) => frame(FrameType.headers, 3, '\x82') + peer.headers(5, get), protocolError],
    ['CONTINUATION of another stream', frame(FrameType.headers, 3, '\x82') + frame(FrameType.continuation, 5, '\x82', Flag.endHeaders), protocolError],
    ['CONTINUATION of nothing', frame(FrameType.continuation, 1, '\x82', Flag.endHeaders), protocolError],
    ['CONTINUATION without an end', frame(FrameType.headers, 3) + many(100, () => frame(FrameType.continuation, 3)), enhanceYourCalm],
    ['CONTINUATION of too much', frame(FrameType.headers, 3) + many(5, () => frame(FrameType.continuation, 3, '\x82'.repeat(16_000))), enhanceYourCalm],
    ['a window for the connection of nothing more', windowUpdate(0, 0), protocolError],
    ['a window for the connection that is too large', windowUpdate(0, maxWindow), flowControlError],
    ['a window of the wrong size', frame(FrameType.windowUpdate, 0, 'abc'), frameSizeError],
    ['a window of a stream that was never opened', windowUpdate(3, 1), protocolError],
    ['a ping of the wrong size', frame(FrameType.ping, 0, 'pingpin'), frameSizeError],
    ['a ping of a stream', frame(FrameType.ping, 1, 'pingping'), protocolError],
    ['settings of the wrong size', frame(FrameType.settings, 0, 'abcde'), frameSizeError],
    ['settings of a stream', frame(FrameType.settings, 1), protocolError],
    ['settings that are taken, with some', frame(FrameType.settings, 0, 'abcdef', Flag.ack), frameSizeError],
    ['frames that are to be too small', settingsFrame([[Setting.maxFrameSize, defaultFrameBytes - 1]]), protocolError],
    ['frames that are to be too large', settingsFrame([[Setting.maxFrameSize, 1 << 24]]), protocolError],
    ['a window of streams that is too large', settingsFrame([[Setting.initialWindowSize, maxWindow + 1]]), flowControlError],
    ['a window of streams that is too large for one that is open', windowUpdate(1, 10) + settingsFrame([[Setting.initialWindowSize, maxWindow]]), flowControlError],
    ['pushing that is neither on nor off', settingsFrame([[Setting.enablePush, 2]]), protocolError],
    ['a reset of a stream that was never opened', resetFrame(3, 0), protocolError],
    ['a reset of no stream', resetFrame(0, 0), protocolError],
    ['a reset of the wrong size', frame(FrameType.rstStream, 1, 'abc'), frameSizeError],
    ['a push', frame(FrameType.pushPromise, 1, '\0\0\0\x02'), protocolError],
    ['a goodbye of the wrong size', frame(FrameType.goaway, 0, 'abcdefg'), frameSizeError],
    ['a goodbye of a stream', frame(FrameType.goaway, 1, word(0) + word(0)), protocolError],
    ['too many resets', (peer) => many(1001, (i) => peer.headers(2 * i + 3, get) + resetFrame(2 * i + 3, ErrorCode.cancel)), enhanceYourCalm],
    ['too many pings', many(1001, () => ping), enhanceYourCalm],
    ['too many settings', many(1001, () => settingsFrame([])), enhanceYourCalm],
    ['too many frames that say nothing', many(1001, () => frame(FrameType.priority, 1, 'abcde')), enhanceYourCalm],
    ['too much DATA of nothing', many(1001, () => dataFrame(1, '')), enhanceYourCalm],
    ['too much DATA of nothing but padding', many(1001, () => dataFrame(1, '\0', Flag.padded)), enhanceYourCalm],
    ['too many requests that are none', (peer) => many(1001, (i) => peer.headers(2 * i + 3, ['a=b'])), enhanceYourCalm],
    ['too many requests beyond those allowed', (peer) => many(1010, (i) => peer.headers(2 * i + 3, get)), enhanceYourCalm],
    ['too many requests that it has us break off', (peer) => many(1001, (i) => peer.headers(2 * i + 3, get) + windowUpdate(2 * i + 3, 0)), enhanceYourCalm],
  ])('%s', async (_, said, code) => {
    const { peer, asked, closed } = await serve()
    peer.send(peer.headers(1, post, false))
    await peer.roundTrip()
    // Later frames are ignored.
    peer.send(typeof said === 'string' ? said : said(peer), peer.headers(9999, get))
    expect(await peer.nextCode(FrameType.goaway)).toBe(code)
    await closed
    expect(asked.every(({ stream }) => stream.isClosed)).toBe(true)
    peer.send(frame(FrameType.settings, 0), peer.headers(10_001, get))
    expect(asked.map(({ stream }) => stream.id).filter((id) => id > 9000)).toEqual([])
  })

  it.each([
    ['of HTTP/1.1', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['that is right only at first', `${preface.slice(0, 20)}xxxx`],
  ])('a preface %s', async (_, said) => {
    const { peer, closed } = await serve({ isGreeted: false })
    peer.send(said)
    expect(await peer.nextCode(FrameType.goaway)).toBe(protocolError)
    await closed
  })

  it('more DATA than all streams together may send', async () => {
    const { peer, closed } = await serve({ maxStreams: 20 })
    for (let i = 0; i < 17; i++) {
      peer.send(peer.headers(2 * i + 1, post, false))
      for (let sent = 0; sent < 1 << 20; sent += defaultFrameBytes) peer.send(dataFrame(2 * i + 1, 'x'.repeat(defaultFrameBytes)))
    }
    expect(await peer.nextCode(FrameType.goaway)).toBe(flowControlError)
    await closed
  })
})

describe('ServerConnection breaks off a stream, and only that, over', () => {
  const { protocolError, flowControlError, streamClosed, refusedStream } = ErrorCode
  const full = many(64, () => dataFrame(3, 'x'.repeat(defaultFrameBytes)))
  it.each<[string, (peer: RawPeer) => string, number]>([
    ['a window of nothing more', (peer) => peer.headers(3, get) + windowUpdate(3, 0), protocolError],
    ['a window that is too large', (peer) => peer.headers(3, get) + windowUpdate(3, maxWindow), flowControlError],
    ['more DATA than it may send', (peer) => `${peer.headers(3, post, false)}${full}${dataFrame(3, 'x')}`, flowControlError],
    ['DATA after its end', (peer) => peer.headers(3, get) + dataFrame(3, 'x'), streamClosed],
    ['header fields after its end', (peer) => peer.headers(3, get) + peer.headers(3, ['a=b']), streamClosed],
    ['header fields amid its body', (peer) => peer.headers(3, post, false) + peer.headers(3, ['a=b'], false), protocolError],
    ['no method', (peer) => peer.headers(3, [':scheme=https', ':path=/']), protocolError],
    ['a name in upper case', (peer) => peer.headers(3, [...get, 'Accept=x']), protocolError],
    ['a header about the connection', (peer) => peer.headers(3, [...get, 'connection=close']), protocolError],
    ['one request more than allowed', (peer) => many(4, (i) => peer.headers(3 + 2 * i, get)), refusedStream],
  ])('%s', async (_, said, code) => {
    const { peer, asked } = await serve()
    peer.send(peer.headers(1, post, false))
    peer.send(said(peer))
    expect(await peer.nextCode(FrameType.rstStream)).toBe(code)
    await peer.roundTrip()
    expect(asked.filter(({ stream }) => stream.id === 3).every(({ stream }) => code === refusedStream || stream.isClosed)).toBe(true)
    expect(asked[0]!.stream.isClosed).toBe(false)
  })
})
