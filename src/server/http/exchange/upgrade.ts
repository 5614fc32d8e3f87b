import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Upgrade } from './exchange.ts'

const isAboutIt = (name: string) =>
  name === 'connection' ||
  name === 'upgrade' ||
  name === 'x-stream-protocol-version' ||
  name.startsWith('sec-websocket-')

/**
 * The upgrade of an HTTP/1.1 request. `head` contains bytes that were read beyond the request. `onTaken` is called when
 * the connection is given to the other protocol.
 */
export function upgradeOf(
  request: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
  head: Buffer,
  onTaken: () => void,
): Upgrade {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (isAboutIt(name) && value !== undefined) headers[name] = String(value)
  return {
    headers,
    take() {
      onTaken()
      response.detachSocket(socket)
      if (head.length > 0) socket.unshift(head)
      return socket
    },
  }
}
