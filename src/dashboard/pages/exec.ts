import type { RawData, WebSocket } from 'ws'
import { pathOf, pods } from '../../client/index.ts'
import type { Viewer } from '../login/viewer.ts'
import { loggedOutCode } from '../stream/connection.ts'
import { execOn } from './upstream.ts'

/** Private close code with the server's refusal as reason. */
const refused = 4403

/** Starts the first shell that exists in the container. */
const shells = ['/bin/sh', '-c', 'if command -v bash >/dev/null; then exec bash; else exec sh; fi']

/** Maximum number of messages before the shell has started. */
const mostEarly = 1000
/** Reading stops while the receiver has more unsent bytes than this. */
const backlogLimit = 512 * 1024

/** The part of a WebSocket that a relay uses. */
type Relayed = Pick<WebSocket, 'on' | 'send' | 'pause' | 'resume' | 'isPaused' | 'bufferedAmount'>

/** Passes messages on, and does not read more than the receiver takes. */
export function passOn(from: Relayed, to: Relayed): void {
  from.on('message', (data: RawData) => {
    to.send(data as Buffer, { binary: true }, () => {
      if (from.isPaused && to.bufferedAmount <= backlogLimit) from.resume()
    })
    if (to.bufferedAmount > backlogLimit) from.pause()
  })
}

/**
 * Connects a terminal of the page to a shell in a container. Both use Kubernetes' exec protocol, so messages are passed
 * through.
 */
export async function relayExec(client: WebSocket, viewer: Viewer, query: URLSearchParams): Promise<void> {
  const gone = new AbortController()
  const loggedOut = () => client.close(loggedOutCode, 'the session has ended')
  if (viewer.ended.aborted) return loggedOut()
  viewer.ended.addEventListener('abort', loggedOut)
  const early: RawData[] = []
  const hold = (data: RawData) => {
    if (early.push(data) > mostEarly) client.close(1009, 'too much input before the shell has started')
  }
  client.on('message', hold)
  client.on('close', () => {
    viewer.ended.removeEventListener('abort', loggedOut)
    gone.abort()
  })
  client.on('error', () => gone.abort())
  const get = (name: string) => query.get(name) ?? ''
  const asked = new URLSearchParams({ container: get('container'), stdin: 'true', stdout: 'true', tty: 'true' })
  for (const word of shells) asked.append('command', word)
  try {
    const server = await execOn(
      viewer.access,
      `${pathOf(pods, get('namespace'), get('name'), 'exec')}?${asked.toString()}`,
      gone.signal,
    )
    client.off('message', hold)
    for (const data of early) server.send(data as Buffer)
    passOn(client, server)
    passOn(server, client)
    client.on('close', () => server.close())
    server.on('close', () => client.close(1000))
    server.on('error', () => client.close(1011))
    if (gone.signal.aborted) server.close()
  } catch (e) {
    // A close frame holds at most 123 bytes of reason.
    client.close(
      refused,
      Buffer.from(e instanceof Error ? e.message : String(e))
        .subarray(0, 120)
        .toString(),
    )
  }
}
