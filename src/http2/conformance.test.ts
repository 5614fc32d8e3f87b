import { describe, expect, it } from 'vitest'
import { ErrorCode } from './errors.ts'
import { Flag, FrameType, Setting, defaultFrameBytes, frameHead, headersFrames, maxWindow, preface, settingsFrame, word } from './frames.ts'
import { type RawPeer, dataFrame, frame, goawayFrame, resetFrame, turn, windowUpdate } from './testing.ts'
import { type Asked, get, post, serve } from './testing-server.ts'

/** The connection is broken off with a code, a stream is, an answer comes, or all goes on. */
type Outcome = { goaway: number } | { reset: number } | { status: string; times?: number } | 'goes on'
type Row = [what: string, said: string | ((peer: RawPeer) => string), outcome: Outcome]

const { protocolError, flowControlError, streamClosed, frameSizeError, compressionError, enhanceYourCalm, refusedStream, cancel } = ErrorCode
const ping = frame(FrameType.ping, 0, 'pingping')
const ended = Flag.endHeaders | Flag.endStream
/** GET, https, / out of the static table. */
const plain = '\x82\x87\x84'
const request = (block: string, stream = 1, flags: number = ended) => frame(FrameType.headers, stream, block, flags)
const literal = (name: string, value: string) => `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`
const priority = (stream: number, payload = '\0\0\0\0\x0f') => frame(FrameType.priority, stream, payload)
const many = (n: number, text: (i: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join('')
const ok: Outcome = { status: '200' }

/** Answers each request when it has come to its end. */
const answer = ({ stream }: Asked) => stream.receive({ data: () => {}, end: () => stream.sendHeaders([{ name: ':status', value: '200' }], true) })

const generic: Row[] = [
  ['1 a request after the preface', (peer) => peer.headers(1, get), ok],
  ['2 stream states: a PRIORITY of an idle stream', priority(3), 'goes on'],
  ['2 stream states: a PRIORITY of a half-closed stream', (peer) => peer.headers(1, get) + priority(1), ok],
  ['2 stream states: a WINDOW_UPDATE of a half-closed stream', (peer) => peer.headers(1, post, false) + windowUpdate(1, 100) + dataFrame(1, '', Flag.endStream), ok],
  ['2 stream states: a RST_STREAM of an open stream', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel), 'goes on'],
  ['2 stream states: a PRIORITY of a closed stream', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + priority(1), 'goes on'],
  ['2 stream states: a WINDOW_UPDATE of a closed stream', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + windowUpdate(1, 100), 'goes on'],
  ['2 stream states: a RST_STREAM of a closed stream', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + resetFrame(1, cancel), 'goes on'],
  ['3.1 a DATA frame', (peer) => peer.headers(1, post, false) + dataFrame(1, 'test', Flag.endStream), ok],
  ['3.1 several DATA frames', (peer) => peer.headers(1, post, false) + dataFrame(1, 'test') + dataFrame(1, 'test', Flag.endStream), ok],
  ['3.1 a DATA frame with padding', (peer) => peer.headers(1, post, false) + dataFrame(1, '\x02test\0\0', Flag.padded | Flag.endStream), ok],
  ['3.2 a HEADERS frame', request(plain), ok],
  ['3.2 a HEADERS frame with padding', request(`\x02${plain}\0\0`, 1, ended | Flag.padded), ok],
  ['3.2 a HEADERS frame with a priority', request(`\0\0\0\0\x0f${plain}`, 1, ended | Flag.priority), ok],
  ['3.2 trailers', (peer) => peer.headers(1, post, false) + dataFrame(1, 'x') + peer.headers(1, ['x-sum=1']), ok],
  ['3.3 a PRIORITY of weight 1', priority(1, '\0\0\0\0\0'), 'goes on'],
  ['3.3 a PRIORITY of weight 256', priority(1, '\0\0\0\0\xff'), 'goes on'],
  ['3.3 a PRIORITY with a dependency', priority(3, '\0\0\0\x01\x0f'), 'goes on'],
  ['3.3 an exclusive PRIORITY', priority(3, '\x80\0\0\x01\x0f'), 'goes on'],
  ['3.5 settings, several', settingsFrame([[Setting.enablePush, 0], [Setting.maxConcurrentStreams, 100], [Setting.initialWindowSize, 65_535]]), 'goes on'],
  ['3.7 a PING', ping, 'goes on'],
  ['3.8 a GOAWAY', goawayFrame(0, 0), 'goes on'],
  ['3.9 a WINDOW_UPDATE of the connection', windowUpdate(0, 1), 'goes on'],
  ['3.9 a WINDOW_UPDATE of a stream', (peer) => peer.headers(1, post, false) + windowUpdate(1, 1) + dataFrame(1, '', Flag.endStream), ok],
  ['3.10 a CONTINUATION', request(plain.slice(0, 1), 1, Flag.endStream) + frame(FrameType.continuation, 1, plain.slice(1), Flag.endHeaders), ok],
  ['3.10 several CONTINUATIONs', request(plain[0]!, 1, Flag.endStream) + frame(FrameType.continuation, 1, plain[1]!) + frame(FrameType.continuation, 1, plain[2]!, Flag.endHeaders), ok],
  ['4 a HEAD request', (peer) => peer.headers(1, [':method=HEAD', ...get.slice(1)]), ok],
  ['4 a POST request', (peer) => peer.headers(1, post, false) + dataFrame(1, 'a=b', Flag.endStream), ok],
  ['4 an OPTIONS request', (peer) => peer.headers(1, [':method=OPTIONS', ...get.slice(1)]), ok],
]

const hpack: Row[] = [
  ['2.3.1 an indexed field of the static table', request(`${plain}\x90`), ok],
  ['2.3.3 an index of 0', request(`${plain}\x80`), { goaway: compressionError }],
  ['2.3.3 an index beyond both tables', request(`${plain}\xc6`), { goaway: compressionError }],
  ['2.3.3 a name of an index beyond both tables', request(`${plain}\x7e\x01x`), { goaway: compressionError }],
  ['4.2 a size of the table after a field', request(`${plain}\x20`), { goaway: compressionError }],
  ['4.2 a size of the table before all fields', request(`\x20${plain}`), ok],
  ['4.2 two sizes of the table', request(`\x20\x3f\xe1\x1f${plain}`), ok],
  ['5.1 an integer that does not end', request(`${plain}\xff\xff\xff\xff\xff\xff`), { goaway: compressionError }],
  ['5.1 an integer that ends too early', request(`${plain}\xff`), { goaway: compressionError }],
  ['5.2 a text in Huffman with padding of more than 7 bits', request(`${plain}\0\x01a\x82\xff\xff`), { goaway: compressionError }],
  ['5.2 a text in Huffman with padding of zeroes', request(`${plain}\0\x01a\x81\x18`), { goaway: compressionError }],
  ['5.2 a text in Huffman with an end in it', request(`${plain}\0\x01a\x84\xff\xff\xff\xff`), { goaway: compressionError }],
  ['5.2 a text beyond the end', request(`${plain}\0\x01a\x05abc`), { goaway: compressionError }],
  ['6.1 an indexed field of the dynamic table', request(`${plain}\x40\x01a\x01b`) + request(`${plain}\xbe`, 3), { status: '200', times: 2 }],
  ['6.2.1 a literal that is indexed', request(`${plain}\x40\x01a\x01b`), ok],
  ['6.2.1 a literal that is indexed, with an indexed name', request(`${plain}\x50\x01b`), ok],
  ['6.2.2 a literal that is not indexed', request(`${plain}${literal('a', 'b')}`), ok],
  ['6.2.3 a literal that is never indexed', request(`${plain}\x10\x01a\x01b`), ok],
  ['6.3 a size of the table beyond what was allowed', request(`\x3f\xe2\x1f${plain}`), { goaway: compressionError }],
  ['6.3 an entry that was evicted', request(`${plain}\x40\x01a\x01b`) + request(`\x20${plain}\xbe`, 3), { goaway: compressionError }],
]

const http2: Row[] = [
  ['4.1 a frame of an unknown type', frame(0xbe, 0, 'abc'), 'goes on'],
  ['4.1 a frame with flags that mean nothing', frame(FrameType.ping, 0, 'pingping', 0xfe), 'goes on'],
  ['4.1 a frame with the reserved bit', (peer) => peer.headers(1, get).replace('\0\0\0\x01', '\x80\0\0\x01'), ok],
  ['4.2 a DATA frame of the largest size', (peer) => peer.headers(1, post, false) + dataFrame(1, 'x'.repeat(defaultFrameBytes), Flag.endStream), ok],
  ['4.2 a DATA frame that is too large', (peer) => peer.headers(1, post, false) + frameHead(defaultFrameBytes + 1, FrameType.data, 0, 1), { goaway: frameSizeError }],
  ['4.2 a HEADERS frame that is too large', frameHead(defaultFrameBytes + 1, FrameType.headers, ended, 1), { goaway: frameSizeError }],
  ['4.2 a SETTINGS frame that is too large', frameHead(defaultFrameBytes + 2, FrameType.settings, 0, 0), { goaway: frameSizeError }],
  ['4.3 a block that cannot be read', request('\xff'), { goaway: compressionError }],
  ['4.3 a PRIORITY amid a block', request(plain, 1, Flag.endStream) + priority(1), { goaway: protocolError }],
  ['4.3 HEADERS of another stream amid a block', request(plain, 1, Flag.endStream) + request(plain, 3), { goaway: protocolError }],
  ['5.1 idle: DATA', dataFrame(1, 'x'), { goaway: protocolError }],
  ['5.1 idle: RST_STREAM', resetFrame(1, cancel), { goaway: protocolError }],
  ['5.1 idle: WINDOW_UPDATE', windowUpdate(1, 100), { goaway: protocolError }],
  ['5.1 idle: CONTINUATION', frame(FrameType.continuation, 1, plain, Flag.endHeaders), { goaway: protocolError }],
  ['5.1 closed by RST_STREAM: DATA', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + dataFrame(1, 'x'), { reset: streamClosed }],
  ['5.1 closed by RST_STREAM: HEADERS', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + peer.headers(1, post), { reset: streamClosed }],
  ['5.1 closed by RST_STREAM: CONTINUATION', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + frame(FrameType.continuation, 1, plain, Flag.endHeaders), { goaway: protocolError }],
  ['5.1 closed by END_STREAM: DATA', (peer) => peer.headers(1, get) + dataFrame(1, 'x'), { reset: streamClosed }],
  ['5.1 closed by END_STREAM: HEADERS', (peer) => peer.headers(1, get) + peer.headers(1, get), { reset: streamClosed }],
  ['5.1.1 a stream of an even number', (peer) => peer.headers(2, get), { goaway: protocolError }],
  ['5.1.1 a number below one that was used', (peer) => peer.headers(5, get) + peer.headers(3, get), { goaway: protocolError }],
  ['5.1.1 numbers that leave some out', (peer) => peer.headers(101, get), ok],
  ['5.1.2 more streams than allowed', (peer) => many(11, (i) => peer.headers(2 * i + 1, post, false)), { reset: refusedStream }],
  ['5.5 an unknown frame amid a block', request(plain, 1, Flag.endStream) + frame(0xbe, 1), { goaway: protocolError }],
  ['5.5 an unknown setting', settingsFrame([[0xff, 1]]), 'goes on'],
  ['6.1 DATA of stream 0', dataFrame(0, 'x'), { goaway: protocolError }],
  ['6.1 DATA with padding as long as it is', (peer) => peer.headers(1, post, false) + dataFrame(1, '\x04abc', Flag.padded), { goaway: protocolError }],
  ['6.1 DATA without a length of its padding', (peer) => peer.headers(1, post, false) + dataFrame(1, '', Flag.padded), { goaway: frameSizeError }],
  ['6.2 HEADERS of stream 0', request(plain, 0), { goaway: protocolError }],
  ['6.2 HEADERS with too much padding', request(`\x06${plain}`, 1, ended | Flag.padded), { goaway: protocolError }],
  ['6.2 HEADERS without their priority', request('abc', 1, ended | Flag.priority), { goaway: protocolError }],
  ['6.3 PRIORITY of stream 0', priority(0), { goaway: protocolError }],
  ['6.3 PRIORITY of a wrong size', (peer) => peer.headers(1, post, false) + priority(1, 'abcd'), { reset: frameSizeError }],
  ['6.3 PRIORITY of a wrong size of no stream that is open', priority(1, 'abcd'), { goaway: frameSizeError }],
  ['6.4 RST_STREAM of stream 0', resetFrame(0, cancel), { goaway: protocolError }],
  ['6.4 RST_STREAM of a wrong size', (peer) => peer.headers(1, post, false) + frame(FrameType.rstStream, 1, 'abc'), { goaway: frameSizeError }],
  ['6.4 RST_STREAM with an unknown code', (peer) => peer.headers(1, post, false) + resetFrame(1, 0xff), 'goes on'],
  ['6.5 SETTINGS that are taken, with some', frame(FrameType.settings, 0, 'abcdef', Flag.ack), { goaway: frameSizeError }],
  ['6.5 SETTINGS of a stream', frame(FrameType.settings, 1), { goaway: protocolError }],
  ['6.5 SETTINGS of a wrong size', frame(FrameType.settings, 0, 'abc'), { goaway: frameSizeError }],
  ['6.5.2 pushing that is neither on nor off', settingsFrame([[Setting.enablePush, 2]]), { goaway: protocolError }],
  ['6.5.2 a window that is too large', settingsFrame([[Setting.initialWindowSize, maxWindow + 1]]), { goaway: flowControlError }],
  ['6.5.2 frames that are too small', settingsFrame([[Setting.maxFrameSize, defaultFrameBytes - 1]]), { goaway: protocolError }],
  ['6.5.2 frames that are too large', settingsFrame([[Setting.maxFrameSize, 1 << 24]]), { goaway: protocolError }],
  ['6.5.3 the last of several values counts', settingsFrame([[Setting.initialWindowSize, 100], [Setting.initialWindowSize, 65_535]]), 'goes on'],
  ['6.6 a PUSH_PROMISE', (peer) => peer.headers(1, post, false) + frame(FrameType.pushPromise, 1, '\0\0\0\x02', Flag.endHeaders), { goaway: protocolError }],
  ['6.7 a PING that is an answer', frame(FrameType.ping, 0, 'invented', Flag.ack), 'goes on'],
  ['6.7 a PING of a stream', frame(FrameType.ping, 1, 'pingping'), { goaway: protocolError }],
  ['6.7 a PING of a wrong size', frame(FrameType.ping, 0, 'pingpin'), { goaway: frameSizeError }],
  ['6.8 a GOAWAY of a stream', frame(FrameType.goaway, 1, word(0) + word(0)), { goaway: protocolError }],
  ['6.9 a WINDOW_UPDATE of nothing, of the connection', windowUpdate(0, 0), { goaway: protocolError }],
  ['6.9 a WINDOW_UPDATE of nothing, of a stream', (peer) => peer.headers(1, post, false) + windowUpdate(1, 0), { reset: protocolError }],
  ['6.9 a WINDOW_UPDATE of a wrong size', frame(FrameType.windowUpdate, 0, 'abc'), { goaway: frameSizeError }],
  ['6.9.1 windows of the connection beyond 2^31 - 1', windowUpdate(0, maxWindow) + windowUpdate(0, maxWindow), { goaway: flowControlError }],
  ['6.9.1 windows of a stream beyond 2^31 - 1', (peer) => peer.headers(1, post, false) + windowUpdate(1, maxWindow), { reset: flowControlError }],
  ['6.9.2 a window of streams beyond 2^31 - 1', (peer) => peer.headers(1, post, false) + windowUpdate(1, 1) + settingsFrame([[Setting.initialWindowSize, maxWindow]]), { goaway: flowControlError }],
  ['6.10 CONTINUATION behind fields that ended', (peer) => peer.headers(1, post, false) + frame(FrameType.continuation, 1, plain, Flag.endHeaders), { goaway: protocolError }],
  ['6.10 CONTINUATION of stream 0', request(plain, 1, Flag.endStream) + frame(FrameType.continuation, 0, plain, Flag.endHeaders), { goaway: protocolError }],
  ['6.10 CONTINUATION behind DATA', (peer) => peer.headers(1, post, false) + dataFrame(1, 'x') + frame(FrameType.continuation, 1, plain, Flag.endHeaders), { goaway: protocolError }],
  ['7 a GOAWAY with an unknown code', goawayFrame(0, 0xff), 'goes on'],
  ['8.1 header fields amid a body, without an end', (peer) => peer.headers(1, post, false) + peer.headers(1, ['a=b'], false), { reset: protocolError }],
  ['8.2.1 a name in upper case', request(plain + literal('X-Test', 'ok')), { reset: protocolError }],
  ['8.2.1 a name with a space', request(plain + literal('x test', 'ok')), { reset: protocolError }],
  ['8.2.1 an empty name', request(plain + literal('', 'ok')), { reset: protocolError }],
  ['8.2.1 a value with a line break', request(plain + literal('x', 'a\r\nb')), { reset: protocolError }],
  ['8.2.1 a value with a zero byte', request(plain + literal('x', 'a\0b')), { reset: protocolError }],
  ['8.2.1 a value with a space around it', request(plain + literal('x', ' a')), { reset: protocolError }],
  ['8.2.2 connection', request(plain + literal('connection', 'keep-alive')), { reset: protocolError }],
  ['8.2.2 keep-alive', request(plain + literal('keep-alive', '5')), { reset: protocolError }],
  ['8.2.2 proxy-connection', request(plain + literal('proxy-connection', 'x')), { reset: protocolError }],
  ['8.2.2 transfer-encoding', request(plain + literal('transfer-encoding', 'chunked')), { reset: protocolError }],
  ['8.2.2 upgrade', request(plain + literal('upgrade', 'h2c')), { reset: protocolError }],
  ['8.2.2 te other than trailers', request(plain + literal('te', 'deflate')), { reset: protocolError }],
  ['8.2.2 te: trailers', request(plain + literal('te', 'trailers')), ok],
  ['8.3 an unknown pseudo field', request(plain + literal(':test', 'x')), { reset: protocolError }],
  ['8.3 the pseudo field of an answer', request(plain + literal(':status', '200')), { reset: protocolError }],
  ['8.3 a pseudo field behind others', request(`\x82\x87${literal('a', 'b')}\x84`), { reset: protocolError }],
  ['8.3 a pseudo field among trailers', (peer) => peer.headers(1, post, false) + peer.headers(1, [':method=GET']), { reset: protocolError }],
  ['8.3.1 an empty path', request(`\x82\x87\x04\0`), { reset: protocolError }],
  ['8.3.1 no method', request('\x87\x84'), { reset: protocolError }],
  ['8.3.1 no scheme', request('\x82\x84'), { reset: protocolError }],
  ['8.3.1 no path', request('\x82\x87'), { reset: protocolError }],
  ['8.3.1 two methods', request(`${plain}\x82`), { reset: protocolError }],
  ['8.3.1 two schemes', request(`${plain}\x87`), { reset: protocolError }],
  ['8.3.1 two paths', request(`${plain}\x84`), { reset: protocolError }],
]

/** Abuse that a server must not tolerate (RFC 9113, section 10.5). */
const abuse: Row[] = [
  ['rapid reset', (peer) => many(1100, (i) => peer.headers(2 * i + 1, get) + resetFrame(2 * i + 1, cancel)), { goaway: enhanceYourCalm }],
  ['resets that it has us send', (peer) => many(1100, (i) => peer.headers(2 * i + 1, post, false) + windowUpdate(2 * i + 1, 0)), { goaway: enhanceYourCalm }],
  ['pings', many(1100, () => ping), { goaway: enhanceYourCalm }],
  ['settings', many(1100, () => settingsFrame([])), { goaway: enhanceYourCalm }],
  ['priorities', many(1100, () => priority(1)), { goaway: enhanceYourCalm }],
  ['unknown frames', many(1100, () => frame(0xbe, 0)), { goaway: enhanceYourCalm }],
  ['DATA of nothing', (peer) => peer.headers(1, post, false) + many(1100, () => dataFrame(1, '')), { goaway: enhanceYourCalm }],
  ['DATA of one byte', (peer) => peer.headers(1, post, false) + many(10_100, () => dataFrame(1, 'x')), { goaway: enhanceYourCalm }],
  ['DATA of one byte and padding', (peer) => peer.headers(1, post, false) + many(10_100, () => dataFrame(1, '\x01x\0', Flag.padded)), { goaway: enhanceYourCalm }],
  ['WINDOW_UPDATEs of one byte', many(10_100, () => windowUpdate(0, 1)), { goaway: enhanceYourCalm }],
  ['WINDOW_UPDATEs of one byte, of a stream', (peer) => peer.headers(1, post, false) + many(10_100, () => windowUpdate(1, 1)), { goaway: enhanceYourCalm }],
  ['HEADERS of a stream that is over', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + many(1100, () => request(plain)), { goaway: enhanceYourCalm }],
  ['DATA of a stream that is over', (peer) => peer.headers(1, post, false) + resetFrame(1, cancel) + many(1100, () => dataFrame(1, 'x'.repeat(100))), { goaway: enhanceYourCalm }],
  ['CONTINUATIONs of nothing', request('', 1, 0) + many(100, () => frame(FrameType.continuation, 1)), { goaway: enhanceYourCalm }],
  ['CONTINUATIONs of very much', request('', 1, 0) + many(6, () => frame(FrameType.continuation, 1, 'x'.repeat(16_000))), { goaway: enhanceYourCalm }],
  ['fields that are one byte each', request(`\x40\x01a\x7f\x80\x01${'b'.repeat(255)}${'\xbe'.repeat(10_000)}`), { status: '431' }],
  ['streams beyond those allowed', (peer) => many(1200, (i) => peer.headers(2 * i + 1, post, false)), { goaway: enhanceYourCalm }],
]

async function check(said: Row[1], outcome: Outcome): Promise<void> {
  const { peer, closed } = await serve({ maxStreams: 10, onRequest: answer })
  peer.send(typeof said === 'string' ? said : said(peer))
  if (outcome === 'goes on') {
    await peer.roundTrip()
    peer.send(headersFrames(201, plain, true, 16_384))
    expect((await peer.nextHead()).fields).toMatchObject({ ':status': '200' })
  } else if ('status' in outcome) {
    for (let i = 0; i < (outcome.times ?? 1); i++) expect((await peer.nextHead()).fields).toMatchObject({ ':status': outcome.status })
    await peer.roundTrip()
  } else if ('reset' in outcome) {
    expect(await peer.nextCode(FrameType.rstStream)).toBe(outcome.reset)
    await peer.roundTrip()
  } else {
    expect(await peer.nextCode(FrameType.goaway)).toBe(outcome.goaway)
    await closed
  }
}

const sections: [string, Row[]][] = [['generic', generic], ['HPACK', hpack], ['HTTP/2', http2], ['abuse', abuse]]

describe.each(sections)('a server, by RFC 9113 and 7541, %s:', (_, rows) => {
  it.each(rows)('%s', (_what, said, outcome) => check(said, outcome))
})

it('has at least a hundred rows', () => {
  expect(sections.flatMap(([, rows]) => rows).length).toBeGreaterThan(130)
})

describe('a server, of the beginning:', () => {
  it.each([
    ['another preface', 'INVALID CONNECTION PREFACE\r\n\r\n'],
    ['another frame than settings first', preface + ping],
    ['a request before settings', preface + request(plain)],
    ['DATA before settings', preface + dataFrame(1, 'x')],
  ])('%s', async (_, said) => {
    const { peer, closed } = await serve({ isGreeted: false })
    peer.send(said)
    expect(await peer.nextCode(FrameType.goaway)).toBe(protocolError)
    await closed
  })
})

describe('a server, by its clock, ends', () => {
  const limits = { prefaceMs: 10, frameMs: 20, idleMs: 50, unreadMs: 30 }
  const scene = async (isGreeted = true, onRequest: (asked: Asked) => void = answer) => {
    let now = 0
    const all = await serve({ isGreeted, onRequest, now: () => now })
    return { ...all, pass: (ms: number) => { now += ms; all.connection.checkTime(limits) } }
  }

  it('a connection without a preface', async () => {
    const { pass, closed, connection } = await scene(false)
    pass(9)
    expect(connection.isClosed).toBe(false)
    pass(1)
    await closed
  })

  it.each([
    ['a frame that does not end', frameHead(10, FrameType.ping, 0, 0)],
    ['fields that do not end', request(plain, 1, Flag.endStream)],
    ['a body amid a frame', (peer: RawPeer) => peer.headers(1, post, false) + frameHead(10, FrameType.data, 0, 1)],
  ])('%s', async (_, said) => {
    const { peer, pass, closed } = await scene()
    await peer.roundTrip()
    peer.send(typeof said === 'string' ? said : said(peer))
    await turn()
    await turn()
    pass(0)
    pass(20)
    expect(await peer.nextCode(FrameType.goaway)).toBe(enhanceYourCalm)
    await closed
  })

  it('a connection on which nothing is asked, with a goodbye, and none on which something is', async () => {
    const { peer, pass, closed, asked } = await scene(true, () => {})
    peer.send(peer.headers(1, get))
    await peer.roundTrip()
    pass(1000)
    await peer.roundTrip()
    asked[0]!.stream.sendHeaders([{ name: ':status', value: '200' }], true)
    pass(49)
    await peer.roundTrip()
    pass(1)
    expect(await peer.nextCode(FrameType.goaway)).toBe(ErrorCode.noError)
    await closed
  })

  it('an answer of which nothing is taken, and lets those go on that are', async () => {
    const { peer, pass, asked } = await scene(true, ({ stream }) => {
      stream.sendHeaders([{ name: ':status', value: '200' }], false)
      stream.send(Buffer.alloc(200_000), true)
    })
    peer.send(settingsFrame([[Setting.initialWindowSize, 0]]), windowUpdate(0, 1 << 20), peer.headers(1, get), peer.headers(3, get))
    await peer.roundTrip()
    pass(0)
    for (let i = 0; i < 3; i++) {
      peer.send(windowUpdate(3, 100))
      await peer.roundTrip()
      pass(15)
    }
    expect(asked.map(({ stream }) => stream.isClosed)).toEqual([true, false])
  })
})
