import { isIP } from 'node:net'
import tls from 'node:tls'
import { ClientConnection, type Field } from '../../src/http2/index.ts'
import { Connection } from './connection.ts'
import type { Target } from './target.ts'

export type Protocol = 'HTTP/1.1' | 'HTTP/2'

interface Answer {
  code: number
  /** Bytes of the body, all of which have arrived. */
  bytes: number
  /** The body of a refusal. */
  text: string
}

/** Sends requests over connections that are kept. */
export interface Client {
  send(method: string, path: string, body?: string, type?: string): Promise<Answer>
  close(): void
}

const isRefusal = (code: number) => code >= 400

/** HTTP/1.1 over so many connections; with more requests than that at once, they wait. */
export function http1Client(target: Target, connections: number): Client {
  const all = Array.from({ length: connections }, () => new Connection(target))
  const free = [...all]
  const waiting: ((connection: Connection) => void)[] = []
  const release = (connection: Connection) => {
    const next = waiting.shift()
    if (next) next(connection)
    else free.push(connection)
  }
  return {
    send: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const sendOver = (connection: Connection) => {
          const answer: Answer = { code: 0, bytes: 0, text: '' }
          connection.send(method, path, body, type, {
            head: (code) => (answer.code = code),
            body: (piece) => {
              answer.bytes += piece.length
              if (isRefusal(answer.code)) answer.text += piece.toString()
            },
            end: () => {
              release(connection)
              resolve(answer)
            },
            failed: reject,
          })
        }
        const connection = free.pop()
        if (connection) sendOver(connection)
        else waiting.push(sendOver)
      }),
    close: () => {
      for (const connection of all) connection.close()
    },
  }
}

/** HTTP/2 over so many connections, in turn. */
export async function http2Client(target: Target, connections: number): Promise<Client> {
  const sessions = await Promise.all(Array.from({ length: connections }, () => openHttp2(target)))
  const fixed = fixedFields(target)
  let next = 0
  return {
    send: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const session = sessions[next++ % sessions.length]!
        const described = body === undefined ? [] : [{ name: 'content-type', value: type }]
        const answer: Answer = { code: 0, bytes: 0, text: '' }
        session.request({ fields: [{ name: ':method', value: method }, { name: ':path', value: path }, ...fixed, ...described], body: body === undefined ? undefined : Buffer.from(body) }, {
          head: (code) => (answer.code = code),
          data: (piece) => {
            answer.bytes += piece.length
            if (isRefusal(answer.code)) answer.text += piece.toString()
          },
          end: () => resolve(answer),
          closed: () => reject(new Error('the server closed the connection')),
        })
      }),
    close: () => {
      for (const session of sessions) session.destroy()
    },
  }
}

/** The header fields of every request to a server. */
export const fixedFields = ({ url, headers }: Target): Field[] => [
  { name: ':scheme', value: 'https' },
  { name: ':authority', value: url.host },
  ...Object.entries(headers).map(([name, value]) => ({ name, value })),
]

/** A connection that speaks HTTP/2, once the server has said what it allows. */
export function openHttp2({ url, tls: identity }: Target): Promise<ClientConnection> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: url.hostname, port: Number(url.port || 443), servername: isIP(url.hostname) ? '' : url.hostname, ALPNProtocols: ['h2'], ...identity })
    socket.setNoDelay(true)
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const connection = new ClientConnection({ socket, streamWindow: 4 << 20, connectionWindow: 32 << 20, onHeard: () => {}, onLeaving: () => {}, onClosed: () => {} })
      void connection.ready().then(() => resolve(connection))
    })
  })
}
