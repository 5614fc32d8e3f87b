import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Connection, whenDrained } from './connection.ts'

const longestMessage = 16 << 20

const normalClosure = 1000

/** Answers a handshake with one of the client's protocols. `head` is what was read after its request. */
export async function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  protocol: string,
): Promise<Connection> {
  // Loaded for the first client, because most nodes never need it.
  const { WebSocketServer } = await import('ws')
  const handshake = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // The content is compressed already or is terminal output, so compression costs more than it saves.
    perMessageDeflate: false,
    maxPayload: longestMessage,
    handleProtocols: () => protocol,
  })
  let connection: WebSocketConnection | undefined
  handshake.handleUpgrade(request, socket, head, (open) => (connection = new WebSocketConnection(open, socket)))
  if (!connection) throw new Error('the handshake was rejected')
  return connection
}

/** The server side of a WebSocket after the handshake. */
class WebSocketConnection implements Connection {
  readonly #open: WebSocket
  readonly #socket: Duplex
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}

  constructor(open: WebSocket, socket: Duplex) {
    this.#open = open
    this.#socket = socket
    open.on('message', (message: Buffer) => this.onMessage(message))
    // A protocol error closes the connection, which emits 'close'.
    open.on('error', () => {})
    open.once('close', () => this.onClose())
  }

  send(message: Buffer): boolean {
    if (this.#open.readyState !== this.#open.OPEN) return true
    this.#open.send(message, { binary: true })
    return !this.#socket.writableNeedDrain
  }

  drained(resume: () => void): void {
    if (this.#socket.writableNeedDrain) whenDrained(this.#socket, resume)
    else resume()
  }

  pause(): void {
    this.#open.pause()
  }

  resume(): void {
    this.#open.resume()
  }

  close(): void {
    // The close frame of the client must be read.
    this.#open.resume()
    this.#open.close(normalClosure)
  }
}
