import type { ListenOptions, Server } from 'node:net'

/**
 * Starts a server. Rejects if it cannot listen. Later errors are passed to `notAccepted`: a connection could not be
 * accepted, for example because no file descriptor is free. The server keeps listening; without a handler such an error
 * would end the process.
 */
export function listen(
  server: Server,
  at: ListenOptions,
  notAccepted: (error: Error) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      // The caller may try another address with the same server.
      server.off('listening', ready)
      reject(error)
    }
    const ready = () => {
      server.off('error', failed).on('error', notAccepted)
      resolve()
    }
    server.once('error', failed).once('listening', ready).listen(at)
  })
}
