import type { TlsClient } from '../e2e/tls-client.ts'
import { torturedPath } from './torture.ts'

interface Line {
  type: string
  object: { metadata: { name: string; resourceVersion: string }; message?: string }
}

/** A watch that goes on from where it was whenever it ends, and keeps all that it was told. */
export class Follower {
  readonly seen: string[] = []
  readonly problems: string[] = []
  readonly #client: TlsClient
  #version: number
  #isOver = false

  constructor(client: TlsClient, from: number) {
    this.#client = client
    this.#version = from
  }

  start(): void {
    void this.#follow()
  }

  /** Resolves when everything up to a version was seen, or after 30 seconds. */
  async reach(version: number): Promise<void> {
    const endMs = Date.now() + 30_000
    while (this.#version < version && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20))
    this.#isOver = true
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      await this.#once()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  #once(): Promise<void> {
    return new Promise((resolve) => {
      const stream = this.#client.session().request({ ':path': `${torturedPath}?watch=1&resourceVersion=${this.#version}&timeoutSeconds=5` })
      let rest = ''
      let code = 0
      stream.setEncoding('utf8')
      stream.on('response', (headers) => (code = Number(headers[':status'])))
      stream.on('data', (text: string) => {
        if (code !== 200) return
        const lines = (rest + text).split('\n')
        // The last is not whole yet.
        rest = lines.pop()!
        for (const line of lines) this.#take(JSON.parse(line) as Line)
      })
      stream.setTimeout(8000, () => stream.destroy())
      stream.on('error', () => {}) // the server was killed or cut off: the next one goes on
      stream.on('close', resolve)
    })
  }

  #take({ type, object }: Line): void {
    if (type === 'ERROR') return void this.problems.push(`refused: ${object.message}`)
    const { name, resourceVersion } = object.metadata
    if (Number(resourceVersion) <= this.#version) this.problems.push(`${type} ${name} at ${resourceVersion} came after ${this.#version}`)
    this.#version = Number(resourceVersion)
    this.seen.push(`${type === 'DELETED' ? 'DELETED' : 'set'} ${name} ${resourceVersion}`)
  }
}
