import { type Protocol, fixedFields, openHttp2 } from './client.ts'
import { Connection } from './connection.ts'
import type { Target } from './target.ts'

const newline = 0x0a
/** The prefix of all object names of the load, by which they are found in a line without parsing it. */
export const namePrefix = 'pod-'
const nameMember = Buffer.from(`"name":"${namePrefix}`)
const quote = 0x22

/** Calls back with the name of every object that a watch tells of, as soon as its line is there. */
export class Watcher {
  readonly #onName: (name: string, at: number) => void
  #rest: Buffer[] = []
  #end = () => {}
  lines = 0

  private constructor(onName: (name: string, at: number) => void) {
    this.#onName = onName
  }

  /** Resolves once the server has answered: from then on every change is told. */
  static open(target: Target, path: string, protocol: Protocol, onName: (name: string, at: number) => void): Promise<Watcher> {
    const watcher = new Watcher(onName)
    return new Promise((resolve, reject) => {
      const head = (code: number) => (code === 200 ? resolve(watcher) : reject(new Error(`${path}: ${code}`)))
      if (protocol === 'HTTP/1.1') watcher.#watchHttp1(target, path, head, reject)
      else watcher.#watchHttp2(target, path, head).catch(reject)
    })
  }

  close(): void {
    this.#end()
  }

  #watchHttp1(target: Target, path: string, head: (code: number) => void, failed: (why: Error) => void): void {
    const connection = new Connection(target)
    this.#end = () => connection.close()
    connection.send('GET', path, undefined, '', { head, body: (piece) => this.#take(piece), end: () => {}, failed })
  }

  async #watchHttp2(target: Target, path: string, head: (code: number) => void): Promise<void> {
    const connection = await openHttp2(target)
    this.#end = () => connection.destroy()
    const fields = [{ name: ':method', value: 'GET' }, { name: ':path', value: path }, ...fixedFields(target)]
    connection.request({ fields, body: undefined }, { head, data: (piece) => this.#take(piece), end: () => {}, closed: () => {} })
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
    const found = line.indexOf(nameMember)
    if (found < 0) return
    const start = found + nameMember.length - namePrefix.length
    this.#onName(line.toString('latin1', start, line.indexOf(quote, start)), at)
  }
}
