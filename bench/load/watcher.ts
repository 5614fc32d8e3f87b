import https from 'node:https'
import type { Target } from './target.ts'

const newline = 0x0a
/** An object's name stands this early in its line: metadata comes first, and in it the name before any list. */
const headBytes = 300
const nameMember = '"name":"'

/** Calls back with the name of every object that a watch tells of, as soon as its line is there. */
export class Watcher {
  readonly #request: ReturnType<typeof https.request>
  readonly #onName: (name: string, at: number) => void
  #rest: Buffer[] = []
  lines = 0

  private constructor(target: Target, path: string, onName: (name: string, at: number) => void, onOpen: () => void, onError: (e: Error) => void) {
    this.#onName = onName
    const { url, tls, headers } = target
    this.#request = https.request({ host: url.hostname, port: url.port, path, headers, agent: false, ...tls }, (response) => {
      if (response.statusCode !== 200) onError(new Error(`${path}: ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => this.#take(chunk))
      response.on('error', () => {})
      onOpen()
    })
    this.#request.on('error', onError)
    this.#request.end()
  }

  /** Resolves once the server has answered: from then on every change is told. */
  static open(target: Target, path: string, onName: (name: string, at: number) => void): Promise<Watcher> {
    return new Promise((resolve, reject) => {
      const watcher: Watcher = new Watcher(target, path, onName, () => resolve(watcher), reject)
    })
  }

  close(): void {
    this.#request.destroy()
  }

  #take(chunk: Buffer): void {
    const at = performance.now()
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end)
      this.#tell(this.#rest.length ? Buffer.concat([...this.#rest, line]) : line, at)
      this.#rest = []
      start = end + 1
    }
    if (start < chunk.length) this.#rest.push(start === 0 ? chunk : chunk.subarray(start))
  }

  #tell(line: Buffer, at: number): void {
    this.lines++
    const head = line.latin1Slice(0, Math.min(headBytes, line.length))
    const from = head.indexOf(nameMember)
    if (from >= 0) this.#onName(head.slice(from + nameMember.length, head.indexOf('"', from + nameMember.length)), at)
  }
}
