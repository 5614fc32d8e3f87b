import type { Socket } from 'node:net'

/** Go detects plain HTTP by the first five bytes of a connection. */
const beginnings = ['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO']

const refusal = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/** The time limit for the first bytes, the same as for a TLS handshake. */
export const firstBytesMs = 10_000

/**
 * Peeks at the first bytes of a connection to a TLS port. Plain HTTP gets the response of Go's server and the
 * connection ends. Other connections go to `serveTls` with the bytes put back.
 */
export function refusePlainHttp(socket: Socket, serveTls: (socket: Socket) => void): void {
  const destroy = () => socket.destroy()
  socket.on('error', destroy)
  socket.setTimeout(firstBytesMs, destroy)
  socket.once('data', (first: Buffer) => {
    socket.setTimeout(0)
    socket.off('timeout', destroy)
    if (beginnings.includes(first.subarray(0, 5).toString('latin1'))) {
      socket.end(refusal)
      // Unread bytes at close would reset the connection, and the response might be lost.
      socket.resume()
      return
    }
    socket.pause()
    socket.off('error', destroy)
    socket.unshift(first)
    serveTls(socket)
  })
}
