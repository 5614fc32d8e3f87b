import { alreadyExists, conflictModified, notFound } from '../../api/errors.ts'
import { cloneObject, deepFreeze } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest, Transport, WatchListener } from '../transport/transport.ts'

interface Watch {
  prefix: string
  name: string | undefined
  listener: WatchListener
}

/**
 * A minimal API for the tests of this folder, which may not import the server: objects by path, with resource versions
 * and watches.
 */
export class MemoryApi implements Transport {
  readonly objects = new Map<string, KubeObject>()
  readonly requests: ApiRequest[] = []
  readonly #watches = new Set<Watch>()
  #version = 100

  async send<T>(request: ApiRequest): Promise<T> {
    request.signal?.throwIfAborted()
    this.requests.push(request)
    const name = request.path.slice(request.path.lastIndexOf('/') + 1)
    const there = this.objects.get(request.path)
    const about = { group: '', resource: 'objects' }
    if (request.method === 'POST') {
      const body = request.body as KubeObject
      const path = `${request.path}/${body.metadata.name}`
      if (this.objects.has(path)) throw alreadyExists(about, body.metadata.name!)
      return this.#store(path, { ...body, metadata: { ...body.metadata, uid: `uid-${this.#version}` } }) as T
    }
    if (!there) throw notFound(about, name)
    if (request.method === 'GET') return there as T
    if (request.method === 'PUT') {
      const body = request.body as KubeObject
      const { resourceVersion } = body.metadata
      if (resourceVersion && resourceVersion !== there.metadata.resourceVersion) throw conflictModified(about, name)
      return this.#store(request.path, body) as T
    }
    if (request.method === 'PATCH') return this.#store(request.path, { ...there, ...(request.body as object) }) as T
    this.objects.delete(request.path)
    this.#tell(request.path, 'DELETED', there)
    return {} as T
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const name = /^metadata\.name=(.*)$/.exec(request.query?.fieldSelector ?? '')?.[1]
    const watch: Watch = { prefix: `${request.path}/`, name, listener: listener as unknown as WatchListener }
    this.#watches.add(watch)
    listener.opened()
    return () => {
      if (this.#watches.delete(watch)) listener.closed(undefined)
    }
  }

  async close(): Promise<void> {}

  #store(path: string, object: KubeObject): KubeObject {
    const isNew = !this.objects.has(path)
    const stored = deepFreeze(
      cloneObject({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }),
    )
    this.objects.set(path, stored)
    this.#tell(path, isNew ? 'ADDED' : 'MODIFIED', stored)
    return stored
  }

  #tell(path: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    for (const { prefix, name, listener } of this.#watches) {
      if (path.startsWith(prefix) && (name === undefined || path === prefix + name)) listener.event({ type, object })
    }
  }
}
