import { describe, expect, it } from 'vitest'
import { ClientConnection } from './client-connection.ts'
import { ErrorCode } from './errors.ts'
import { Flag, FrameType, Setting, frameHead, maxWindow, preface, settingsFrame } from './frames.ts'
import { RawPeer, dataFrame, frame, goawayFrame, resetFrame, turn, windowUpdate } from './testing.ts'

const get = [{ name: ':method', value: 'GET' }, { name: ':path', value: '/' }]

/** A client's connection, and a server that says what a test wants. */
async function connect(settings: readonly (readonly [number, number])[] = []) {
  const peer = new RawPeer(preface)
  const heard: string[] = []
  let connection: ClientConnection | undefined
  const closed = new Promise<Error | undefined>((resolve) => {
    connection = new ClientConnection({ socket: peer.socket, streamWindow: 1 << 20, connectionWindow: 2 << 20, onHeard: () => {}, onLeaving: () => heard.push('leaving'), onClosed: resolve })
  })
  peer.send(settingsFrame(settings))
  await connection!.ready()
  await peer.roundTrip()
  /** Asks, and writes down what comes under a name. */
  const ask = (name: string, body?: Buffer) =>
    connection!.request({ fields: get, body }, {
      head: (status, fields) => heard.push(`${name} ${status} ${fields.length}`),
      data: (piece) => heard.push(`${name} data ${piece.length < 20 ? piece.toString() : piece.length}`),
      end: () => heard.push(`${name} end`),
      closed: (isUnsent) => heard.push(`${name} closed${isUnsent ? ' unsent' : ''}`),
    })
  return { peer, heard, closed, connection: connection!, ask }
}

describe('ClientConnection', () => {
  it.each<[string, (peer: RawPeer) => string, string[]]>([
    ['an answer of its head alone', (peer) => peer.headers(1, [':status=204']), ['a 204 1', 'a end', 'a closed']],
    ['an answer in pieces', (peer) => peer.headers(1, [':status=200', 'x=y'], false) + dataFrame(1, 'ab') + dataFrame(1, 'c', Flag.endStream), ['a 200 2', 'a data ab', 'a data c', 'a end', 'a closed']],
    ['what is said before the answer, and leaves it out', (peer) => peer.headers(1, [':status=103'], false) + peer.headers(1, [':status=200']), ['a 200 1', 'a end', 'a closed']],
    ['fields after the answer, and leaves them out', (peer) => peer.headers(1, [':status=200'], false) + dataFrame(1, 'x') + peer.headers(1, ['a=b']), ['a 200 1', 'a data x', 'a end', 'a closed']],
    ['an end by itself', (peer) => peer.headers(1, [':status=200'], false) + dataFrame(1, '', Flag.endStream), ['a 200 1', 'a end', 'a closed']],
    ['a reset before the head', () => resetFrame(1, ErrorCode.internalError), ['a closed']],
    ['a refusal', () => resetFrame(1, ErrorCode.refusedStream), ['a closed unsent']],
    ['a reset after the head', (peer) => peer.headers(1, [':status=200'], false) + dataFrame(1, 'x') + resetFrame(1, ErrorCode.cancel), ['a 200 1', 'a data x', 'a closed']],
    ['an end without an answer', () => dataFrame(1, 'x', Flag.endStream), ['a closed']],
    ['only what is said before an answer', (peer) => peer.headers(1, [':status=100']), ['a closed']],
    ['an answer without a status', (peer) => peer.headers(1, ['a=b']), ['a closed']],
    ['an answer of no possible status', (peer) => peer.headers(1, [':status=abc']), ['a closed']],
    ['too many header fields', () => frame(FrameType.headers, 1, `\x40\x01a\x7f\x80\x01${'b'.repeat(255)}${'\xbe'.repeat(300)}`, Flag.endHeaders), ['a closed']],
  ])('hears %s', async (_, said, wanted) => {
    const { peer, ask, heard } = await connect()
    ask('a')
    await peer.nextHead()
    peer.send(said(peer))
    await peer.roundTrip()
    expect(heard).toEqual(wanted)
  })

  it.each<[string, (peer: RawPeer) => string, number]>([
    ['answers to what was not asked', (peer) => peer.headers(3, [':status=200']), ErrorCode.protocolError],
    ['pushes', () => frame(FrameType.pushPromise, 1, '\0\0\0\x02'), ErrorCode.protocolError],
    ['sends a frame that is too large', () => frameHead((1 << 20) + 1, FrameType.data, 0, 1), ErrorCode.frameSizeError],
  ])('says goodbye to a server that %s, and tells who waits', async (_, said, code) => {
    const { peer, ask, heard, closed, connection } = await connect()
    ask('a')
    await peer.nextHead()
    peer.send(said(peer))
    expect(await peer.nextCode(FrameType.goaway)).toBe(code)
    expect(await closed).toMatchObject({ code })
    expect(heard).toEqual(['a closed'])
    expect([connection.isUsable, connection.isClosed]).toEqual([false, true])
  })

  it('breaks off a request when told, once', async () => {
    const { peer, ask, heard } = await connect()
    const cancel = ask('a')
    await peer.nextHead()
    cancel()
    cancel()
    expect(await peer.nextCode(FrameType.rstStream)).toBe(ErrorCode.cancel)
    peer.send(peer.headers(1, [':status=200'], false), dataFrame(1, 'x', Flag.endStream), windowUpdate(1, 1), resetFrame(1, 0))
    await peer.roundTrip()
    expect(heard).toEqual(['a closed'])
  })

  it('gives the window back for the rest of a frame amid which a request was broken off', async () => {
    const { peer, ask } = await connect()
    for (let i = 0; i < 12; i++) {
      const cancel = ask('a')
      const { stream } = await peer.nextHead()
      const text = peer.headers(stream, [':status=200'], false) + dataFrame(stream, 'x'.repeat(500_000))
      peer.send(text.slice(0, 1000))
      await turn()
      cancel()
      peer.send(text.slice(1000))
    }
    await peer.roundTrip()
    const given = peer.frames.filter(({ type, stream }) => type === FrameType.windowUpdate && stream === 0).reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
    expect(given).toBeGreaterThan(5_000_000)
  })

  it('does not keep a stream whose answer is there, while the server does not want the rest of the question', async () => {
    const { peer, ask, heard } = await connect()
    ask('a', Buffer.alloc(100_000))
    await peer.nextHead()
    peer.send(peer.headers(1, [':status=413']))
    expect(await peer.nextCode(FrameType.rstStream)).toBe(ErrorCode.noError)
    expect(heard).toEqual(['a 413 1', 'a end', 'a closed'])
  })

  it('answers pings, and hears answers to its own', async () => {
    const { peer, connection } = await connect()
    const answered = connection.ping()
    const { payload } = await peer.next(FrameType.ping)
    peer.send(frame(FrameType.ping, 0, payload.toString('latin1'), Flag.ack))
    expect(await answered).toBe(true)
    const unanswered = connection.ping()
    connection.destroy()
    expect(await unanswered).toBe(false)
    expect(await connection.ping()).toBe(false)
  })

  it('is ready, though not usable, when the server goes away before it says anything', async () => {
    const peer = new RawPeer(preface)
    const connection = new ClientConnection({ socket: peer.socket, streamWindow: 1 << 20, connectionWindow: 2 << 20, onHeard: () => {}, onLeaving: () => {}, onClosed: () => {} })
    peer.end()
    await connection.ready()
    expect(connection.isUsable).toBe(false)
  })
})

describe('ClientConnection, to a server that goes away,', () => {
  it('knows by its goodbye which requests were never looked at', async () => {
    const { peer, ask, heard, closed, connection } = await connect()
    for (const name of ['a', 'b', 'c']) ask(name)
    peer.send(goawayFrame(3, ErrorCode.noError))
    await peer.roundTrip()
    expect(heard.splice(0)).toEqual(['leaving', 'c closed unsent'])
    expect(connection.isUsable).toBe(false)
    ask('d')
    await turn()
    peer.send(peer.headers(1, [':status=200']))
    await peer.roundTrip()
    expect(heard.splice(0)).toEqual(['d closed unsent', 'a 200 1', 'a end', 'a closed'])
    // It ends with the last answer.
    peer.send(peer.headers(3, [':status=200']))
    await closed
    expect(heard).toEqual(['b 200 1', 'b end', 'b closed'])
  })

  it('goes on with all requests that the server will still answer', async () => {
    const { peer, ask, heard } = await connect()
    ask('a')
    peer.send(goawayFrame(maxWindow, ErrorCode.noError))
    await peer.roundTrip()
    expect(heard).toEqual(['leaving'])
    peer.send(goawayFrame(0, ErrorCode.noError))
    await turn()
    expect(heard).toEqual(['leaving', 'leaving', 'a closed unsent'])
  })

  it.each<[string, (peer: RawPeer) => void, string | undefined]>([
    ['hangs up', (peer) => peer.end(), undefined],
    ['is lost', (peer) => void peer.socket.destroy(new Error('cable')), 'cable'],
  ])('tells every request that it %s', async (_, lose, why) => {
    const { peer, ask, heard, closed } = await connect([[Setting.maxConcurrentStreams, 2]])
    for (const name of ['a', 'b', 'c']) ask(name)
    await peer.nextHead()
    peer.send(peer.headers(1, [':status=200'], false))
    await peer.roundTrip()
    lose(peer)
    expect((await closed)?.message).toBe(why)
    await turn()
    expect(heard).toEqual(['a 200 1', 'a closed', 'b closed', 'c closed unsent'])
  })
})

describe('ClientConnection, to a server that allows few requests at once,', () => {
  const two = [[Setting.maxConcurrentStreams, 2]] as const

  it('sends as many, and the others in turn as those end', async () => {
    const { peer, ask, heard, connection } = await connect(two)
    expect(connection.maxStreams).toBe(2)
    for (const name of ['a', 'b', 'c', 'd']) ask(name)
    await peer.roundTrip()
    expect(peer.frames.filter(({ type }) => type === FrameType.headers).map(({ stream }) => stream)).toEqual([1, 3])
    for (const id of [1, 3, 5, 7]) {
      expect((await peer.nextHead()).stream).toBe(id)
      peer.send(peer.headers(id, [':status=200']))
    }
    await peer.roundTrip()
    expect(heard.filter((line) => line.endsWith('end'))).toEqual(['a end', 'b end', 'c end', 'd end'])
  })

  it('sends the others when it allows more', async () => {
    const { peer, ask } = await connect([[Setting.maxConcurrentStreams, 0]])
    for (const name of ['a', 'b', 'c']) ask(name)
    await peer.roundTrip()
    expect(peer.frames.some(({ type }) => type === FrameType.headers)).toBe(false)
    peer.send(settingsFrame(two))
    await peer.roundTrip()
    expect(peer.frames.filter(({ type }) => type === FrameType.headers).map(({ stream }) => stream)).toEqual([1, 3])
  })

  it('sends nothing of one that was cancelled while it waited, and says that it is over', async () => {
    const { peer, ask, heard } = await connect([[Setting.maxConcurrentStreams, 1]])
    ask('a')
    const cancel = ask('b')
    ask('c')
    cancel()
    cancel()
    expect(heard.splice(0)).toEqual(['b closed unsent'])
    await peer.nextHead()
    peer.send(peer.headers(1, [':status=200']))
    expect((await peer.nextHead()).stream).toBe(3)
    peer.send(peer.headers(3, [':status=200']))
    await peer.roundTrip()
    expect(heard).toEqual(['a 200 1', 'a end', 'a closed', 'c 200 1', 'c end', 'c closed'])
  })

  it('can cancel one that waited, after it was sent', async () => {
    const { peer, ask, heard } = await connect([[Setting.maxConcurrentStreams, 1]])
    ask('a')
    const cancel = ask('b')
    peer.send(resetFrame(1, ErrorCode.cancel))
    await peer.roundTrip()
    cancel()
    expect((await peer.next(FrameType.rstStream)).stream).toBe(3)
    expect(heard).toEqual(['a closed', 'b closed'])
  })

  it('lets nobody wait once it sends no more', async () => {
    const { ask, heard, closed, connection } = await connect([[Setting.maxConcurrentStreams, 0]])
    ask('a')
    connection.close()
    ask('b')
    ask('c')()
    await closed
    ask('d')
    await turn()
    expect(heard).toEqual(['c closed unsent', 'a closed unsent', 'b closed unsent', 'd closed unsent'])
  })

  it('ends by itself when it was closed and the last answer has come', async () => {
    const { peer, ask, closed, connection } = await connect()
    ask('a')
    await peer.nextHead()
    connection.close()
    peer.send(peer.headers(1, [':status=200']))
    await closed
    expect(peer.socket.destroyed).toBe(true)
  })
})
