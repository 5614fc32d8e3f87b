import http2 from 'node:http2'
import https from 'node:https'
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

/** HTTP/1.1 over at most so many connections, with Node's own agent. */
export function http1Client({ url, tls, headers }: Target, connections: number): Client {
  const agent = new https.Agent({ keepAlive: true, maxSockets: connections, ...tls })
  const base = { host: url.hostname, port: url.port, agent }
  return {
    send: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const described = body === undefined ? headers : { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) }
        const request = https.request({ ...base, method, path, headers: described }, (response) => {
          const code = response.statusCode ?? 0
          let bytes = 0
          let text = ''
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (isRefusal(code)) text += chunk.toString()
          })
          response.on('end', () => resolve({ code, bytes, text }))
          response.on('error', reject)
        })
        request.on('error', reject)
        request.end(body)
      }),
    close: () => agent.destroy(),
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
