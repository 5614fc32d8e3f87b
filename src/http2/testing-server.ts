import { preface, settingsFrame } from './frames.ts'
import type { RequestHead } from './request-head.ts'
import { ServerConnection } from './server-connection.ts'
import type { Http2Stream } from './stream.ts'
import { RawPeer } from './testing.ts'

export const get = [':method=GET', ':scheme=https', ':path=/', ':authority=a']
export const post = [':method=POST', ':scheme=https', ':path=/', ':authority=a']

export interface Asked {
  stream: Http2Stream
  head: RequestHead
}

/** A server connection, and a client that sends what a test specifies. */
export async function serve({
  maxStreams = 4,
  isGreeted = true,
  onRequest = (_: Asked) => {},
  now = (): number => 0,
} = {}) {
  const peer = new RawPeer()
  const asked: Asked[] = []
  let connection: ServerConnection | undefined
  const closed = new Promise<void>((resolve) => {
    connection = new ServerConnection({
      socket: peer.socket,
      maxStreams,
      now,
      onRequest(stream, head) {
        asked.push({ stream, head })
        onRequest({ stream, head })
      },
      onClosed: resolve,
    })
  })
  if (isGreeted) {
    peer.send(preface, settingsFrame([]))
    await peer.roundTrip()
  }
  return { peer, asked, closed, connection: connection! }
}
