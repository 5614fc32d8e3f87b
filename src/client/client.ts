import { type Status, isExpired } from '../api/errors.ts'
import type { DeleteOptions as DeleteBody, Eviction, ListMeta } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import type { ApplyConfiguration, New } from './draft.ts'
import { type ResourceType, apiVersionOf, pathOf, resourceName } from './resource-type.ts'
import { pods } from './resources.ts'
import { Retrier } from './transport/retry.ts'
import { type ApiRequest, type Transport, type WatchListener, acceptMetadata } from './transport/transport.ts'
import type {
  AnswerOptions,
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  GetOptions,
  ListAllOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  Selection,
  SubresourceOptions,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'

export interface List<T extends KubeObject = KubeObject> {
  metadata: ListMeta
  items: T[]
}

const patchContentTypes: Record<PatchType, string> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

const defaultPageSize = 500

/** Reads and writes API objects over any transport. Requests that were not received, or were throttled, are retried. */
export class Client {
  readonly transport: Transport
  readonly #retrier: Retrier
  readonly #fieldManager: string | undefined

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.transport = transport
    this.#retrier = new Retrier(options.clock ?? systemClock, options.random ?? systemRandom, options.retries)
    this.#fieldManager = options.fieldManager
  }

  get<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    name: string,
    { signal, ...query }: GetOptions = {},
  ): Promise<T> {
    return this.#send({ method: 'GET', path: objectPath(type, namespace, name), query: queryOf(query), signal })
  }

  /** Lists the objects of a namespace, or of all namespaces if it is ''. Every item has its apiVersion and kind. */
  list<T extends KubeObject>(type: ResourceType<T>, namespace: string, options: ListOptions = {}): Promise<List<T>> {
    const { signal, metadataOnly, ...query } = options
    const accept = metadataOnly ? acceptMetadata('PartialObjectMetadataList') : undefined
    const list = this.#send<List<T>>({
      method: 'GET',
      path: pathOf(type, namespace),
      query: queryOf(query),
      accept,
      signal,
    })
    return list.then((all) => named(type, all))
  }

  /** Lists in pages of one consistent revision. */
  async *listAll<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    options: ListAllOptions = {},
  ): AsyncGenerator<List<T>, void> {
    const { pageSize = defaultPageSize, allowInconsistent = false, ...selection } = options
    let next: string | undefined
    do {
      let page: List<T>
      try {
        page = await this.list(type, namespace, { ...selection, limit: pageSize, ...(next ? { continue: next } : {}) })
      } catch (e) {
        const token = allowInconsistent && next ? continueAfter(e) : undefined
        if (!token) throw e
        next = token
        continue
      }
      next = page.metadata.continue
      yield page
    } while (next)
  }

  create<T extends KubeObject>(
    type: ResourceType<T>,
    object: New<T>,
    options: WriteOptions & { namespace?: string } = {},
  ): Promise<T> {
    const { namespace = object.metadata.namespace ?? '' } = options
    return this.#send({
      method: 'POST',
      path: collectionPath(type, namespace),
      body: typed(type, object),
      ...this.#writing(options),
    })
  }

  /** Replaces an object. If it has a resourceVersion, that must be the current one. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#replace(type, object, '', options)
  }

  updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#replace(type, object, 'status', options)
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const { force, subresource = '' } = options
    const { query, signal } = this.#writing(options)
    return this.#send({
      method: 'PATCH',
      path: objectPath(type, namespace, name, subresource),
      query: force ? { ...query, force: 'true' } : query,
      body: patch,
      contentType: patchContentTypes[options.type],
      accept: acceptOf(options),
      signal,
    })
  }

  /**
   * Server-side apply: sets the fields of the configuration, which this manager then owns. Creates the object if it
   * does not exist.
   */
  apply<T extends KubeObject>(type: ResourceType<T>, config: ApplyConfiguration<T>, options: ApplyOptions): Promise<T> {
    const { namespace = '', name = '' } = config.metadata
    return this.patch(type, namespace, name, typed(type, config), { ...options, type: 'apply' })
  }

  /** Deletes an object. Returns the object if it still waits for finalizers, otherwise a Status. */
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    name: string,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    return this.#send({
      method: 'DELETE',
      path: objectPath(type, namespace, name),
      body: deleteBody(options),
      accept: acceptOf(options),
      signal: options.signal,
    })
  }

  async deleteCollection(
    type: ResourceType,
    namespace: string,
    options: DeleteOptions & Selection = {},
  ): Promise<void> {
    const { labelSelector, fieldSelector, signal } = options
    const query = queryOf({ labelSelector, fieldSelector })
    await this.#send({
      method: 'DELETE',
      path: collectionPath(type, namespace),
      query,
      body: deleteBody(options),
      signal,
    })
  }

  /** Evicts a pod if its disruption budgets allow it. Rejects with a 429 if not; retrying is the caller's decision. */
  async evict(namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    const eviction: Eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: deleteBody(options),
    }
    const path = objectPath(pods, namespace, name, 'eviction')
    if (path instanceof Error) throw path
    await this.transport.send({ method: 'POST', path, body: eviction, signal: options.signal })
  }

  /**
   * Requests a subresource of an object: its scale, log or binding. A response that is not JSON is returned as text.
   */
  subresource<R = unknown>(
    type: ResourceType,
    namespace: string,
    name: string,
    subresource: string,
    { method = 'GET', ...rest }: SubresourceOptions = {},
  ): Promise<R> {
    return this.#send({ method, path: objectPath(type, namespace, name, subresource), ...rest })
  }

  /** Opens a watch, with bookmarks by default. The returned function ends it. */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    { signal, allowWatchBookmarks = true, ...options }: WatchOptions,
    listener: WatchListener<T>,
  ): () => void {
    return this.transport.watch(
      { method: 'GET', path: pathOf(type, namespace), query: queryOf({ ...options, allowWatchBookmarks }), signal },
      listener,
    )
  }

  /** Closes the transport too. */
  close(): Promise<void> {
    this.#retrier.close()
    return this.transport.close()
  }

  #replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    subresource: string,
    options: WriteOptions,
  ): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    const path = objectPath(type, namespace, name, subresource)
    return this.#send({ method: 'PUT', path, body: typed(type, object), ...this.#writing(options) })
  }

  #writing({
    dryRun,
    fieldManager = this.#fieldManager,
    fieldValidation,
    signal,
  }: WriteOptions): Pick<ApiRequest, 'query' | 'signal'> {
    return { query: queryOf({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation }), signal }
  }

  /** Sends a request. An invalid path is a rejection like any other error. */
  #send<T>(request: Omit<ApiRequest, 'path'> & { path: string | Error }): Promise<T> {
    if (request.path instanceof Error) return Promise.reject(request.path)
    return this.#retrier.send(request as ApiRequest, this.#attempt) as Promise<T>
  }

  readonly #attempt = (request: ApiRequest): Promise<unknown> => this.transport.send(request)
}

type QueryValue = string | number | boolean | undefined

/** Returns the defined values; undefined if there are none. */
function queryOf(values: Readonly<Record<string, QueryValue>>): Record<string, string> | undefined {
  let query: Record<string, string> | undefined
  for (const name in values) {
    const value = values[name]
    if (value === undefined || value === '') continue
    query ??= {}
    query[name] = String(value)
  }
  return query
}

function collectionPath(type: ResourceType, namespace: string): string | Error {
  // Without a namespace the request would apply to all namespaces.
  if (type.namespaced && namespace === '') return new Error(`${resourceName(type)} need a namespace`)
  return pathOf(type, namespace)
}

function objectPath(type: ResourceType, namespace: string, name: string, subresource = ''): string | Error {
  // Without a name the request would apply to the whole collection.
  if (name === '') return new Error(`${resourceName(type)} need a name`)
  if (type.namespaced && namespace === '') return new Error(`${resourceName(type)} need a namespace`)
  return pathOf(type, namespace, name, subresource)
}

/** Returns the Accept header; undefined for the default of the transport. */
const acceptOf = ({ metadataOnly }: AnswerOptions): string | undefined =>
  metadataOnly ? acceptMetadata('PartialObjectMetadata') : undefined

/** Sets apiVersion and kind of an object. */
function typed(type: ResourceType, object: object): object {
  const { apiVersion, kind } = object as KubeObject
  return apiVersion && kind ? object : { ...object, apiVersion: apiVersionOf(type), kind: type.kind }
}

/** Sets apiVersion and kind of list items, which the server omits. */
function named<T extends KubeObject>(type: ResourceType<T>, list: List<T>): List<T> {
  const apiVersion = apiVersionOf(type)
  // An empty list of metadata has no items at all.
  const items = (list.items as T[] | null) ?? []
  if (items.length === 0) return { ...list, items }
  if (items[0]!.kind !== undefined || Object.isFrozen(items[0])) return list
  for (const item of items) {
    item.apiVersion = apiVersion
    item.kind = type.kind
  }
  return list
}

function deleteBody({
  uid,
  resourceVersion,
  propagationPolicy,
  gracePeriodSeconds,
  dryRun,
}: DeleteOptions): DeleteBody {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(uid || resourceVersion
      ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } }
      : {}),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  }
}

/** Returns the continue token of a response with 410, if it has one. */
const continueAfter = (e: unknown): string | undefined => (isExpired(e) ? e.metadata.continue : undefined)
