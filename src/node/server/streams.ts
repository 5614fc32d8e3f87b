import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Attachment } from '../runtime/runtime.ts'
import { type Connection, PlainConnection } from './connection.ts'
import type { NodeServer } from './node-server.ts'
import { Refusal } from './pod-access.ts'
import {
  portChannelProtocol,
  portForwardProtocol,
  servePortChannels,
  servePortForward,
  tunnelProtocol,
} from './port-forward.ts'
import { type StreamChoice, channelProtocols, serveCommand } from './remote-command.ts'
import { channelsOverSpdy } from './spdy-channels.ts'
import { acceptWebSocket } from './websocket.ts'

/** A streaming request for a pod, from a path in kubelet's form. */
export interface StreamRequest {
  what: 'containerLogs' | 'exec' | 'attach' | 'portForward'
  server: NodeServer
  namespace: string
  pod: string
  /** Empty for port-forward. */
  container: string
  query: URLSearchParams
}

/** A channel number has one byte and each port has two channels: 127 ports use channels 0 to 253. */
const mostPorts = 127

/** Upgrades the connection to a protocol that both sides support, and serves the stream. */
export async function openStream(
  asked: StreamRequest,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const protocol = request.headers.upgrade?.toLowerCase()
  const shake = async (known: readonly string[]): Promise<Connection> =>
    protocol === 'websocket' ? shakeHands(request, socket, head, known) : switchToSpdy(request, socket, head, known)
  const isSpdy = protocol === 'spdy/3.1'
  if (!isSpdy && protocol !== 'websocket')
    throw new Refusal(400, `unable to upgrade: ${JSON.stringify(request.headers.upgrade)} is not supported`)
  if (asked.what === 'portForward') {
    const { server, namespace, pod } = asked
    const connect = (port: number) => server.connect(namespace, pod, port)
    const wanted = namesIn(request.headers['sec-websocket-protocol'])
    if (isSpdy || wanted.includes(tunnelProtocol)) {
      const connection = await shake([isSpdy ? portForwardProtocol : tunnelProtocol])
      servePortForward(connection, pod, connect)
      return closeWithPod(connection, asked)
    }
    const ports = portsIn(asked.query)
    const connection = await shake([portChannelProtocol])
    servePortChannels(connection, pod, ports, connect)
    return closeWithPod(connection, asked)
  }
  const { choice, start } = command(asked)
  const connection = await shake(channelProtocols)
  if (isSpdy) channelsOverSpdy(connection, choice, (channels) => void serveCommand(channels, choice, start))
  else void serveCommand(connection, choice, start)
}

/** Closes a port-forward connection when its pod stops. */
function closeWithPod(connection: Connection, { server, namespace, pod }: StreamRequest): void {
  const forget = server.whenStopped(namespace, pod, () => connection.close())
  const { onClose } = connection
  connection.onClose = () => {
    forget()
    onClose()
  }
}

const namesIn = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map((name) => name.trim())

function answer(socket: Socket, head: Buffer, lines: readonly string[]): void {
  socket.write(['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', ...lines, '', ''].join('\r\n'))
  if (head.length > 0) socket.unshift(head)
}

const unknownProtocol = (wanted: readonly string[], known: readonly string[]) =>
  new Refusal(
    403,
    `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(' ')}], server accepts [${known.join(' ')}]`,
  )

function switchToSpdy(
  { headers }: IncomingMessage,
  socket: Socket,
  head: Buffer,
  known: readonly string[],
): Connection {
  const wanted = namesIn(headers['x-stream-protocol-version'])
  const protocol = known.find((name) => wanted.includes(name))
  if (!protocol) throw unknownProtocol(wanted, known)
  answer(socket, head, ['Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`])
  return new PlainConnection(socket)
}

/** Completes the handshake. Both sides send messages from then on. */
function shakeHands(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  known: readonly string[],
): Promise<Connection> {
  const { headers } = request
  const wanted = namesIn(headers['sec-websocket-protocol'])
  const protocol = known.find((name) => wanted.includes(name))
  const key = headers['sec-websocket-key']
  if (!key || headers['sec-websocket-version'] !== '13') throw new Refusal(400, 'not a handshake of version 13')
  if (!protocol) throw unknownProtocol(wanted, known)
  return acceptWebSocket(request, socket, head, protocol)
}

function portsIn(query: URLSearchParams): number[] {
  const ports = query
    .getAll('port')
    .flatMap((text) => text.split(','))
    .map(Number)
  if (ports.length === 0) throw new Refusal(400, 'query parameter "port" is required')
  if (ports.length > mostPorts || ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw new Refusal(400, `not ports: ${query.getAll('port').join(',')}`)
  return ports
}

function command({ what, server, namespace, pod, container, query }: StreamRequest): {
  choice: StreamChoice
  start(): Promise<Attachment>
} {
  const isSet = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = isSet('tty')
  const choice = { stdin: isSet('input'), stdout: isSet('output'), stderr: isSet('error') && !tty, tty }
  if (!choice.stdin && !choice.stdout && !choice.stderr)
    throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr')
  const words = query.getAll('command')
  if (what === 'exec' && words.length === 0) throw new Refusal(400, 'you must specify at least 1 command for the pod')
  const options = { tty, stdin: choice.stdin }
  const start = () =>
    what === 'exec'
      ? server.exec(namespace, pod, container, { command: words, ...options })
      : server.attach(namespace, pod, container, options)
  return { choice, start }
}
