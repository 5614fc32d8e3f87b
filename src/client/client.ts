import { type Status, isExpired } from '../api/errors.ts'
import type { DeleteOptions as DeleteBody, Eviction, ListMeta } from '../api/generated/types.ts'
import type { Int64 } from '../api/int64.ts'
import type { KubeObject } from '../api/object.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Random, systemRandom } from '../base/random.ts'
import type { ApplyConfiguration, New } from './draft.ts'
import { type ResourceType, apiVersionOf, pathOf, resourceName } from './resource-type.ts'
import { pods } from './resources.ts'
import { Retrier, type RetryOptions } from './retry.ts'
import { type ApiRequest, type Transport, type WatchListener, acceptMetadata } from './transport.ts'

export interface ClientOptions {
  clock?: Clock
  random?: Random
  retries?: RetryOptions
  /** Who the fields of an object belong to after a write. Default: what the server makes of the user agent. */
  fieldManager?: string
}

export interface RequestOptions {
  signal?: AbortSignal
}

export interface GetOptions extends RequestOptions {
  resourceVersion?: string
}

export interface Selection {
  labelSelector?: string
  fieldSelector?: string
}

export interface ListOptions extends Selection, RequestOptions, AnswerOptions {
  limit?: number
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface ListAllOptions extends Selection, RequestOptions, AnswerOptions {
  /** Default: 500. */
  pageSize?: number
  /** Whether a list that takes so long that its state is forgotten goes on in the present state, instead of failing with 410. */
  allowInconsistent?: boolean
}

export interface WatchOptions extends Selection, RequestOptions {
  resourceVersion?: string
  resourceVersionMatch?: 'NotOlderThan'
  /** Default: true. */
  allowWatchBookmarks?: boolean
  sendInitialEvents?: boolean
  timeoutSeconds?: number
}

export interface WriteOptions extends RequestOptions {
  dryRun?: boolean
  fieldManager?: string
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
}

export type PatchType = 'merge' | 'strategic' | 'json' | 'apply'

/** For whom the answer need not be the whole object. */
export interface AnswerOptions {
  /** Has the server answer no more than the metadata. It may answer more. */
  metadataOnly?: boolean
}

export interface PatchOptions extends WriteOptions, AnswerOptions {
  type: PatchType
  subresource?: string
  /** Takes fields from other managers; only for apply. */
  force?: boolean
}

/** How a configuration is applied. */
export interface ApplyOptions extends Omit<PatchOptions, 'type'> {
  /** Whose fields they are. Another configuration by the same manager takes the place of this one. */
  fieldManager: string
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

export interface DeleteOptions extends RequestOptions, AnswerOptions {
  /** Delete only if it is still this one. */
  uid?: string
  /** Delete only if it is still in this state. */
  resourceVersion?: string
  propagationPolicy?: PropagationPolicy
  gracePeriodSeconds?: Int64
  dryRun?: boolean
}

export interface SubresourceOptions extends RequestOptions {
  /** Default: GET. */
  method?: ApiRequest['method']
  body?: unknown
  query?: Readonly<Record<string, string>>
  contentType?: string
}

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

/** Reads and writes the objects of an API, whatever it is reached by. What only failed to arrive, or came too soon, is sent again. */
export class Client {
  readonly transport: Transport
  readonly #retrier: Retrier
  readonly #fieldManager: string | undefined

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.transport = transport
    this.#retrier = new Retrier(options.clock ?? systemClock, options.random ?? systemRandom, options.retries)
    this.#fieldManager = options.fieldManager
  }

  get<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string, { signal, ...query }: GetOptions = {}): Promise<T> {
    return this.#send({ method: 'GET', path: objectPath(type, namespace, name), query: queryOf(query), signal })
  }

  /** All objects of a namespace, or of every namespace if that is ''. Every item says what it is. */
  list<T extends KubeObject>(type: ResourceType<T>, namespace: string, options: ListOptions = {}): Promise<List<T>> {
    const { signal, metadataOnly, ...query } = options
    const accept = metadataOnly ? acceptMetadata('PartialObjectMetadataList') : undefined
    const list = this.#send<List<T>>({ method: 'GET', path: pathOf(type, namespace), query: queryOf(query), accept, signal })
    return list.then((all) => named(type, all))
  }

  /** A list in pages, all of one state. */
  async *listAll<T extends KubeObject>(type: ResourceType<T>, namespace: string, options: ListAllOptions = {}): AsyncGenerator<List<T>, void> {
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

  create<T extends KubeObject>(type: ResourceType<T>, object: New<T>, options: WriteOptions & { namespace?: string } = {}): Promise<T> {
    const { namespace = object.metadata.namespace ?? '' } = options
    return this.#send({ method: 'POST', path: collectionPath(type, namespace), body: typed(type, object), ...this.#writing(options) })
  }

  /** Replaces an object. One that carries a resourceVersion is only replaced in that state. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#replace(type, object, '', options)
  }

  updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#replace(type, object, 'status', options)
  }

  patch<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string, patch: unknown, options: PatchOptions): Promise<T> {
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

  /** Server-side apply: the object has these fields afterwards, and this manager owns them. It is created if it is not there. */
  apply<T extends KubeObject>(type: ResourceType<T>, config: ApplyConfiguration<T>, options: ApplyOptions): Promise<T> {
    const { namespace = '', name = '' } = config.metadata
    return this.patch(type, namespace, name, typed(type, config), { ...options, type: 'apply' })
  }

  /** Answers the object while it is still there, waiting to be gone, and otherwise a Status. */
  delete<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string, options: DeleteOptions = {}): Promise<T | Status> {
    return this.#send({ method: 'DELETE', path: objectPath(type, namespace, name), body: deleteBody(options), accept: acceptOf(options), signal: options.signal })
  }

  async deleteCollection(type: ResourceType, namespace: string, options: DeleteOptions & Selection = {}): Promise<void> {
    const { labelSelector, fieldSelector, signal } = options
    const query = queryOf({ labelSelector, fieldSelector })
    await this.#send({ method: 'DELETE', path: collectionPath(type, namespace), query, body: deleteBody(options), signal })
  }

  /** Asks for a pod to be deleted if its disruption budgets allow it: rejects with a 429 if not, which is for the caller to wait out. */
  async evict(namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    const eviction: Eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions: deleteBody(options) }
    const path = objectPath(pods, namespace, name, 'eviction')
    if (path instanceof Error) throw path
    await this.transport.send({ method: 'POST', path, body: eviction, signal: options.signal })
  }

  /** Anything that is below an object: its scale, its log, a binding. What is not JSON is answered as text. */
  subresource<R = unknown>(
    type: ResourceType,
    namespace: string,
    name: string,
    subresource: string,
    { method = 'GET', ...rest }: SubresourceOptions = {},
  ): Promise<R> {
    return this.#send({ method, path: objectPath(type, namespace, name, subresource), ...rest })
  }

  /** Opens a watch, with bookmarks unless told otherwise. The returned function ends it. */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    { signal, allowWatchBookmarks = true, ...options }: WatchOptions,
    listener: WatchListener<T>,
  ): () => void {
    return this.transport.watch({ method: 'GET', path: pathOf(type, namespace), query: queryOf({ ...options, allowWatchBookmarks }), signal }, listener)
  }

  /** Closes the transport too. */
  close(): Promise<void> {
    this.#retrier.close()
    return this.transport.close()
  }

  #replace<T extends KubeObject>(type: ResourceType<T>, object: T, subresource: string, options: WriteOptions): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    const path = objectPath(type, namespace, name, subresource)
    return this.#send({ method: 'PUT', path, body: typed(type, object), ...this.#writing(options) })
  }

  #writing({ dryRun, fieldManager = this.#fieldManager, fieldValidation, signal }: WriteOptions): Pick<ApiRequest, 'query' | 'signal'> {
    return { query: queryOf({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation }), signal }
  }

  /** What is wrong with the path is a rejection like any other. */
  #send<T>(request: Omit<ApiRequest, 'path'> & { path: string | Error }): Promise<T> {
    if (request.path instanceof Error) return Promise.reject(request.path)
    return this.#retrier.send(request as ApiRequest, this.#attempt) as Promise<T>
  }

  readonly #attempt = (request: ApiRequest): Promise<unknown> => this.transport.send(request)
}

type QueryValue = string | number | boolean | undefined

/** Only what is set; undefined if nothing is. */
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
  // Without it, the request would be about all namespaces.
  if (type.namespaced && namespace === '') return new Error(`${resourceName(type)} need a namespace`)
  return pathOf(type, namespace)
}

function objectPath(type: ResourceType, namespace: string, name: string, subresource = ''): string | Error {
  // Without it, the request would be about the whole collection.
  if (name === '') return new Error(`${resourceName(type)} need a name`)
  if (type.namespaced && namespace === '') return new Error(`${resourceName(type)} need a namespace`)
  return pathOf(type, namespace, name, subresource)
}

/** Metadata alone where that will do; undefined is what the transport asks for by itself. */
const acceptOf = ({ metadataOnly }: AnswerOptions): string | undefined => (metadataOnly ? acceptMetadata('PartialObjectMetadata') : undefined)

/** Says in the object what it is. */
function typed(type: ResourceType, object: object): object {
  const { apiVersion, kind } = object as KubeObject
  return apiVersion && kind ? object : { ...object, apiVersion: apiVersionOf(type), kind: type.kind }
}

/** Items of a list leave out what the list says once; alone they need it, as those of a watch have it. */
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

function deleteBody({ uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions): DeleteBody {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(uid || resourceVersion ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } } : {}),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  }
}

/** Where a list that took too long may go on, if it may. */
const continueAfter = (e: unknown): string | undefined => (isExpired(e) ? e.metadata.continue : undefined)
