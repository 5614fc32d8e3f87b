import type { ClientAnswer, TlsClient } from '../e2e/tls-client.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Operation } from './linearizable.ts'
import { torturedPath } from './torture.ts'

interface Recorded extends Operation {
  /** The version that a delete removes: the one it makes is known from the store only. */
  deletes?: number
  isAcknowledged?: boolean
}

/** Clients that read, write and delete a few objects through any server, and remember every answer. */
export class Clients {
  readonly keys = ['a', 'b', 'c', 'd', 'e']
  readonly operations: Recorded[] = []
  readonly acknowledged: { value: string; revision: number }[] = []
  /** Values that were certainly not written, as the server said. */
  readonly refused: string[] = []
  readonly #servers: readonly TlsClient[]
  readonly #random: SeededRandom
  readonly #running: Promise<void>[] = []
  #isOver = false
  #unknown = 0

  constructor(servers: readonly TlsClient[], random: SeededRandom) {
    this.#servers = servers
    this.#random = random
  }

  get counts() {
    const reads = this.operations.filter(({ kind, version }) => kind === 'read' && version !== undefined).length
    const deletes = this.operations.filter(({ isAcknowledged, deletes: from }) => isAcknowledged && from !== undefined).length
    return { acknowledged: this.acknowledged.length + deletes, refused: this.refused.length, unknown: this.#unknown, reads }
  }

  start(count: number): void {
    for (let worker = 0; worker < count; worker++) this.#running.push(this.#work(worker))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  /** Reads every key through one server. */
  async readAll(server: number): Promise<void> {
    for (const key of this.keys) await this.#read(this.#servers[server]!, key)
  }

  async #work(worker: number): Promise<void> {
    /** The versions that this worker has seen last. */
    const known = new Map<string, number>()
    for (let n = 0; !this.#isOver; n++) {
      const key = this.#pick(this.keys)
      const server = this.#pick(this.#servers)
      const version = known.get(key)
      if (version === undefined || this.#random.next() < 0.4) {
        const seen = await this.#read(server, key)
        if (typeof seen === 'number') known.set(key, seen)
        else if (seen === 'absent') known.set(key, 0)
        else await new Promise((resolve) => setTimeout(resolve, 20))
      } else {
        known.delete(key)
        const made = version > 0 && this.#random.next() < 0.1 ? await this.#delete(server, key, version) : await this.#write(server, key, version, `${worker}-${n}`)
        if (made !== undefined) known.set(key, made)
      }
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random.next() * items.length)]!
  }

  async #read(server: TlsClient, key: string): Promise<number | 'absent' | undefined> {
    const startMs = performance.now()
    const answer = await ask(server, 'GET', `${torturedPath}/${key}`)
    const version = answer?.code === 200 ? versionOf(answer) : answer?.code === 404 ? 'absent' : undefined
    this.operations.push({ key, kind: 'read', startMs, endMs: performance.now(), version })
    return version
  }

  async #write(server: TlsClient, key: string, version: number, value: string): Promise<number | undefined> {
    const startMs = performance.now()
    const metadata = { name: key, ...(version > 0 ? { resourceVersion: String(version) } : {}) }
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } })
    const answer = version > 0 ? await ask(server, 'PUT', `${torturedPath}/${key}`, body) : await ask(server, 'POST', torturedPath, body)
    const endMs = performance.now()
    if (answer?.code === 200 || answer?.code === 201) {
      const revision = versionOf(answer)
      this.acknowledged.push({ value, revision })
      this.operations.push({ key, kind: 'write', startMs, endMs, version: revision })
      return revision
    }
    // A conflict, an object that is gone, or a server that says that nothing was written.
    if (answer && [404, 409, 503].includes(answer.code)) this.refused.push(value)
    else this.#unknown++
    return undefined
  }

  async #delete(server: TlsClient, key: string, version: number): Promise<number | undefined> {
    const startMs = performance.now()
    const answer = await ask(server, 'DELETE', `${torturedPath}/${key}`, JSON.stringify({ preconditions: { resourceVersion: String(version) } }))
    const isAcknowledged = answer?.code === 200
    if (!isAcknowledged && answer && [404, 409, 503].includes(answer.code)) return undefined
    if (!isAcknowledged) this.#unknown++
    else this.operations.push({ key, kind: 'write', startMs, endMs: performance.now(), version: undefined, deletes: version, isAcknowledged })
    return undefined
  }
}

const versionOf = ({ text }: ClientAnswer): number => Number((JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)

/** Undefined where no answer came. */
const ask = (server: TlsClient, method: string, path: string, body?: string): Promise<ClientAnswer | undefined> =>
  server.http1({ method, path, headers: { 'content-type': 'application/json' }, body }).catch(() => undefined)
