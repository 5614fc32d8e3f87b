import { once } from 'node:events'
import { Duplex, PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { FrameParser, WebSocketConnection, WebSocketError, acceptKey, serverFrame } from './websocket.ts'

const mask = Buffer.from([1, 2, 3, 4])

/** A frame as clients send it. */
function clientFrame(op: number, content: Buffer, isFinal = true): Buffer {
  const frame = serverFrame(op, content)
  const lengthEnd = frame.length - content.length
  frame[0] = (isFinal ? 0x80 : 0) | op
  frame[1]! |= 0x80
  return Buffer.concat([frame.subarray(0, lengthEnd), mask, content.map((byte, i) => byte ^ mask[i & 3]!)])
}

/** The client's end of a connection without a wire. */
function connect() {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()]
  const connection = new WebSocketConnection(Duplex.from({ readable: toServer, writable: toClient }))
  const messages: string[] = []
  connection.onMessage = (message) => void messages.push(message.toString())
  return { connection, toServer, toClient, messages }
}

it('acceptKey() is as in the standard', () => {
  expect(acceptKey('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
})

describe('FrameParser', () => {
  it.each([0, 125, 126, 65_535, 65_536])('reads a frame of %i bytes, in whatever pieces it comes', (length) => {
    const content = Buffer.alloc(length, 'abcdefg')
    const bytes = clientFrame(2, content)
    const parser = new FrameParser()
    const cut = Math.min(3, bytes.length)
    const frames = [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut))]
    expect(frames).toMatchObject([{ op: 2, isFinal: true }])
    expect(frames[0]!.content.equals(content)).toBe(true)
  })

  it.each([
    ['is not masked', serverFrame(2, Buffer.from('x')), 1002],
    ['is too long', Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
  ])('refuses a frame that %s', (_what, bytes, code) => {
    expect(() => new FrameParser().push(bytes)).toThrow(expect.objectContaining({ constructor: WebSocketError, code }))
  })
})

describe('WebSocketConnection', () => {
  it('puts messages together, with a ping between their parts answered', async () => {
    const { toServer, toClient, messages } = connect()
    toServer.write(Buffer.concat([clientFrame(2, Buffer.from('he'), false), clientFrame(9, Buffer.from('?')), clientFrame(0, Buffer.from('llo'))]))
    const [pong] = (await once(toClient, 'data')) as [Buffer]
    expect(pong).toEqual(serverFrame(10, Buffer.from('?')))
    expect(messages).toEqual(['hello'])
  })

  it('says goodbye after what it has sent', async () => {
    const { connection, toClient } = connect()
    connection.send(Buffer.from('last'))
    connection.close()
    const bytes = Buffer.concat((await toClient.toArray()) as Buffer[])
    expect(bytes).toEqual(Buffer.concat([serverFrame(2, Buffer.from('last')), serverFrame(8, Buffer.from([0x03, 0xe8]))]))
  })

  it('says goodbye to a client that does', async () => {
    const { connection, toServer, toClient } = connect()
    const closed = new Promise<void>((resolve) => (connection.onClose = resolve))
    toServer.write(clientFrame(8, Buffer.from([0x03, 0xe8])))
    await closed
    expect(Buffer.concat((await toClient.toArray()) as Buffer[])).toEqual(serverFrame(8, Buffer.from([0x03, 0xe8])))
  })
})
