import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { ApiError } from '../../api/errors.ts'
import { systemClock } from '../../base/clock.ts'
import { type ClusterAccess, dial } from '../../client/index.ts'

interface Opened {
  socket: Socket
  headers: Record<string, string | string[]>
}

/** Opens a separate connection to the API server as this user, for streams and WebSockets. */
async function open(access: ClusterAccess, signal: AbortSignal): Promise<Opened> {
  const { certificate, authorization } = await access.credentials.current()
  const socket = await dial({
    access,
    proxy: access.proxy,
    certificate,
    protocols: ['http/1.1'],
    clock: systemClock,
    timeoutMs: 30_000,
    signal,
  })
  return {
    socket,
    headers: { ...access.headers, host: access.server.host, ...(authorization ? { authorization } : {}) },
  }
}

const pathOn = (access: ClusterAccess, path: string): string => `${access.server.pathname.replace(/\/+$/, '')}${path}`

/** Sends a GET with a streamed response. Rejects with the server's refusal. */
export async function streamFrom(access: ClusterAccess, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { socket, headers } = await open(access, signal)
  return new Promise((resolve, reject) => {
    const asking = request({
      createConnection: () => socket,
      path: pathOn(access, path),
      headers: { ...headers, connection: 'close' },
      signal,
    })
    asking.on('error', reject)
    asking.on('response', (answer) => {
      if (answer.statusCode === 200) return resolve(answer)
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => reject(refusalIn(text, answer.statusCode ?? 500)))
    })
    asking.end()
  })
}

/** The message of a Status, or the text itself. */
function refusalIn(text: string, code: number): ApiError {
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]?.replaceAll('\\"', '"')
  return new ApiError(
    code,
    code === 403 ? 'Forbidden' : 'InternalError',
    message ?? (text.slice(0, 500) || `the server answered ${code}`),
    {},
  )
}

/** Opens a WebSocket of Kubernetes' exec protocol. Rejects with the server's refusal. */
export async function execOn(access: ClusterAccess, path: string, signal: AbortSignal): Promise<WebSocket> {
  const [{ WebSocket }, { socket, headers }] = await Promise.all([import('ws'), open(access, signal)])
  const { host, ...rest } = headers
  const upstream = new WebSocket(
    `ws://${String(host)}${pathOn(access, path)}`,
    ['v5.channel.k8s.io', 'v4.channel.k8s.io'],
    {
      headers: rest,
      createConnection: () => socket,
      perMessageDeflate: false,
    } as object,
  )
  return new Promise((resolve, reject) => {
    upstream.once('open', () => resolve(upstream))
    upstream.once('error', reject)
    upstream.once('unexpected-response', (_, answer: IncomingMessage) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => reject(refusalIn(text, answer.statusCode ?? 500)))
    })
  })
}
