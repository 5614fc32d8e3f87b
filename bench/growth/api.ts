import https from 'node:https'
import type { Target } from '../load/target.ts'

export interface Reply {
  code: number
  text: string
}

/** A server that answers nothing for so long is given up. */
const answerLimitMs = 120_000

export const mergePatch = 'application/merge-patch+json'

/**
 * Requests whose answers are read, over HTTP/1.1 connections that are kept. Node's own client is good enough here: the
 * controllers under test make the load, and these requests only steer it.
 */
export class Api {
  readonly target: Target
  readonly #agent: https.Agent

  constructor(target: Target, connections = 16) {
    this.target = target
    this.#agent = new https.Agent({ keepAlive: true, maxSockets: connections, ...target.tls })
  }

  send(method: string, path: string, body?: object, type = 'application/json'): Promise<Reply> {
    const { url, headers } = this.target
    const text = body === undefined ? undefined : JSON.stringify(body)
    const described = text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const to = { host: url.hostname, port: url.port, agent: this.#agent }
      const request = https.request({ ...to, method, path, headers: { ...headers, ...described } }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }))
      })
      request.setTimeout(answerLimitMs, () => {
        request.destroy(new Error(`${method} ${path}: no answer within ${answerLimitMs / 1000} s`))
      })
      request.on('error', reject)
      request.end(text)
    })
  }

  /** The object that the server answers with. Throws for any code but 2xx. */
  async ask<T>(method: string, path: string, body?: object, type?: string): Promise<T> {
    const { code, text } = await this.send(method, path, body, type)
    if (code < 200 || code >= 300) throw new Error(`${method} ${path}: ${code} ${text.slice(0, 500)}`)
    return JSON.parse(text) as T
  }

  /** True if the server answers a GET with 200. Throws for any other code but 404 (and 403). */
  async has(path: string): Promise<boolean> {
    const { code, text } = await this.send('GET', path)
    if (code === 200) return true
    if (code === 404 || code === 403) return false
    throw new Error(`GET ${path}: ${code} ${text.slice(0, 500)}`)
  }

  /** Creates a namespace and its default service account, which pods need on a server without controllers. */
  async makeNamespace(name: string): Promise<void> {
    await this.#make('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await this.#make(`/api/v1/namespaces/${name}/serviceaccounts`, account)
  }

  close(): void {
    this.#agent.destroy()
  }

  async #make(path: string, object: object): Promise<void> {
    const { code, text } = await this.send('POST', path, object)
    if (code !== 201 && code !== 409) throw new Error(`POST ${path}: ${code} ${text.slice(0, 500)}`)
  }
}

export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`

/** The number of objects in a collection: the server sends one of them, and the number of the others. */
export async function countOf(api: Api, path: string): Promise<number> {
  interface List {
    items: unknown[]
    metadata: { remainingItemCount?: number }
  }
  const { items, metadata } = await api.ask<List>('GET', `${path}?limit=1`)
  return items.length + (metadata.remainingItemCount ?? 0)
}
