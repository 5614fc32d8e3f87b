import { configMaps, seqOf } from './crash-load.ts'
import type { TlsClient } from './tls-client.ts'

interface WatchLine {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR'
  object: { metadata: { name: string; resourceVersion: string }; data?: Record<string, string>; message?: string }
}

/** Follows the ConfigMaps over however many servers, each time from where it was, and notes everything that is out of order. */
export class ResumingWatcher {
  /** The objects that should exist: the resource version of each. */
  readonly objects = new Map<string, string>()
  readonly problems: string[] = []
  /** Every version it has seen. */
  readonly seen = new Set<string>()
  #version: number
  #waiting: { name: string; resolve: () => void } | undefined

  constructor(version: string) {
    this.#version = Number(version)
  }

  /** Resumes on a server; resolves once an object of this name has come by. */
  follow(client: TlsClient, until: string): Promise<void> {
    const came = new Promise<void>((resolve) => (this.#waiting = { name: until, resolve }))
    const stream = client.session().request({ ':path': `${configMaps}?watch=1&resourceVersion=${this.#version}` })
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      // The last is not whole yet; what a crash cuts short comes again, whole, after resuming.
      rest = lines.pop()!
      for (const line of lines) this.#take(JSON.parse(line) as WatchLine)
    })
    stream.on('error', () => {}) // the server was killed; the next follow goes on
    return came
  }

  #take({ type, object }: WatchLine): void {
    if (type === 'ERROR') return void this.problems.push(`the watch was refused: ${object.message}`)
    const { name, resourceVersion } = object.metadata
    const version = Number(resourceVersion)
    if (version <= this.#version) this.problems.push(`${type} ${name} at ${version} came after ${this.#version}`)
    const isThere = this.objects.has(name)
    if (isThere !== (type !== 'ADDED')) this.problems.push(`${type} ${name} at ${version}, which was ${isThere ? '' : 'not '}there`)
    if (name !== 'shared' && object.data?.seq) seqOf({ metadata: object.metadata, data: object.data })
    this.#version = version
    this.seen.add(resourceVersion)
    if (type === 'DELETED') this.objects.delete(name)
    else this.objects.set(name, resourceVersion)
    if (name === this.#waiting?.name) this.#waiting.resolve()
  }
}
