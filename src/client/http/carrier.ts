import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * A connection for Node's HTTP/2 session to use through JavaScript. Given the socket itself, the session reads and writes beneath it, and where a
 * write is the first to meet a reset (a server that dies while requests are being sent, one time in ten), nobody is ever told: neither
 * `error` nor `close` comes, and everything that was asked waits for nothing.
 */
export function carrierOf(socket: Socket): Duplex {
  let isOver = false
  const carrier = new Duplex({
    read() {
      if (isOver && carrier.readableLength === 0) carrier.destroy()
      else socket.resume()
    },
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    writev(chunks, done) {
      const last = chunks.length - 1
      socket.cork()
      for (const [i, { chunk }] of chunks.entries()) socket.write(chunk as Buffer, i === last ? done : undefined)
      socket.uncork()
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (chunk: Buffer) => {
    if (!carrier.push(chunk)) socket.pause()
  })
  // Nothing is half open in HTTP/2. Told of an end, Node would begin to close its own side, and end the process if a request is given up meanwhile.
  socket.once('end', () => {
    isOver = true
    if (carrier.readableLength === 0) carrier.destroy()
  })
  socket.on('error', (e) => carrier.destroy(e))
  socket.once('close', () => carrier.destroy())
  return carrier
}
