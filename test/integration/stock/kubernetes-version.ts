import { ApiError, invalidObject } from '../../../src/api/errors.ts'
import type { Json, KubeObject } from '../../../src/api/object.ts'
import { forbidden } from '../../../src/api/validation/field-error.ts'
import { Path } from '../../../src/api/validation/path.ts'
import type { ApiRequest, Transport, WatchListener } from '../../../src/client/index.ts'

/** APIs that are served from a minor version on. */
const apis: readonly [since: number, prefix: string][] = [
  [33, '/apis/networking.k8s.io/v1/ipaddresses'],
  [33, '/apis/networking.k8s.io/v1/servicecidrs'],
  [34, '/apis/resource.k8s.io/v1/'],
  [34, '/apis/storage.k8s.io/v1/volumeattributesclasses'],
  [36, '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic'],
]

/** Fields that objects have from a minor version on, with the features' defaults. */
const fields: readonly [since: number, kinds: readonly string[], path: string][] = [
  [31, ['Pod'], 'status.containerStatuses.allocatedResourcesStatus'],
  [31, ['Pod'], 'status.containerStatuses.user'],
  [32, ['Job'], 'spec.managedBy'],
  [33, ['Pod'], 'status.containerStatuses.resources'],
  [34, ['Pod'], 'status.observedGeneration'],
  [34, ['Pod'], 'status.conditions.observedGeneration'],
  [34, ['Pod'], 'metadata.generation'],
  [35, ['Deployment', 'ReplicaSet'], 'status.terminatingReplicas'],
  [35, ['StatefulSet'], 'spec.updateStrategy.rollingUpdate.maxUnavailable'],
]

/** Watches that begin with what there is: on by default in 1.32, off in 1.33, on again since. */
const streams = (minor: number): boolean => minor === 32 || minor >= 34

/**
 * A server as an older or a newer Kubernetes would look to a client: kinds and fields that the version lacks are hidden, and a
 * version after ours has fields, conditions and an event type of its own.
 */
export class KubernetesVersion implements Transport {
  readonly #inner: Transport
  readonly #minor: number

  constructor(inner: Transport, minor: number) {
    this.#inner = inner
    this.#minor = minor
  }

  async send<T>(request: ApiRequest): Promise<T> {
    this.#judge(request)
    const answer = await this.#inner.send<T>(request)
    const { items, kind = '' } = (answer ?? {}) as { items?: KubeObject[]; kind?: string }
    if (!Array.isArray(items)) return this.#seen(answer as KubeObject, kind) as T
    return { ...answer, items: items.map((item) => this.#seen(item, kind.replace(/List$/, ''))) }
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    try {
      this.#judge(request)
      if (request.query?.['sendInitialEvents'] && !streams(this.#minor)) throw unsupportedStream
    } catch (error) {
      // As over a connection: the answer comes later.
      queueMicrotask(() => listener.closed(error as Error))
      return () => {}
    }
    return this.#inner.watch<T>(request, {
      opened: () => listener.opened(),
      event: ({ type, object }) => listener.event({ type, object: this.#seen(object, object.kind ?? '') as T }),
      closed: (error) => listener.closed(error),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #judge({ path, body, method }: ApiRequest): void {
    const isAbsent = apis.some(([since, prefix]) => since > this.#minor && path.startsWith(prefix))
    if (isAbsent) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
    const { kind = '' } = (body ?? {}) as { kind?: string }
    const unknown = this.#hidden(kind).find(([, , at]) => has(body as Json, at.split('.')))
    const text = `failed to create typed patch object: .${unknown?.[2]}: field not declared in schema (${method} ${path})`
    if (unknown) throw new ApiError(500, 'InternalError', text, {})
  }

  #hidden(kind: string) {
    return fields.filter(([since, kinds]) => since > this.#minor && kinds.includes(kind))
  }

  #seen(object: KubeObject, kind: string): KubeObject {
    const hidden = this.#hidden(kind)
    if (hidden.length === 0 && this.#minor <= 36) return object
    const copy = structuredClone(object)
    for (const [, , at] of hidden) drop(copy as unknown as Json, at.split('.'))
    return this.#minor > 36 ? fromTheFuture(copy) : copy
  }
}

const unsupportedStream = invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
  forbidden(Path.of('sendInitialEvents'), 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'),
])

type Visit = (object: Record<string, Json>, name: string) => void

/** Visits a field wherever its path leads, through the items of lists too. */
function visit(value: Json | undefined, path: readonly string[], found: Visit): void {
  if (Array.isArray(value)) return value.forEach((item) => visit(item, path, found))
  if (typeof value !== 'object' || value === null) return
  const [name = '', ...rest] = path
  const object = value as Record<string, Json>
  if (!(name in object)) return
  if (rest.length === 0) found(object, name)
  else visit(object[name], rest, found)
}

function has(value: Json | undefined, path: readonly string[]): boolean {
  let is = false
  visit(value, path, () => (is = true))
  return is
}

const drop = (value: Json, path: readonly string[]): void => visit(value, path, (object, name) => delete object[name])

/** Fields and a condition that no version has yet. */
function fromTheFuture<T extends KubeObject>(object: T): T {
  const { status, spec } = object as { status?: { conditions?: object[]; future?: object }; spec?: { future?: object } }
  if (spec) spec.future = { mode: 'Eventually' }
  if (!status) return object
  status.future = { count: 1 }
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  status.conditions?.push({ type: 'FutureProof', status: 'Unknown', reason: 'NotYet', message: '', lastTransitionTime })
  return object
}
