import http2 from 'node:http2'
import { Connection } from './connection.ts'
import type { Target } from './target.ts'

export interface Answer {
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
export function http2Client({ url, tls, headers }: Target, connections: number): Client {
  const sessions = Array.from({ length: connections }, () => http2.connect(url, tls))
  let next = 0
  return {
    send: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const session = sessions[next++ % sessions.length]!
        const described = body === undefined ? {} : { 'content-type': type }
        const stream = session.request({ ...headers, ...described, ':method': method, ':path': path }, { endStream: body === undefined })
        let code = 0
        let bytes = 0
        let text = ''
        stream.on('response', (answered) => (code = answered[':status'] ?? 0))
        stream.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (isRefusal(code)) text += chunk.toString()
        })
        stream.on('end', () => resolve({ code, bytes, text }))
        stream.on('error', reject)
        if (body !== undefined) stream.end(body)
      }),
    close: () => {
      for (const session of sessions) session.destroy()
    },
  }
}
