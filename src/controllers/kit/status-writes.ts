import { semanticEqual } from '../../api/deep-equal.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { decodeObject, fieldOf } from '../../api/schema/index.ts'
import type { Clock } from '../../base/clock.ts'
import { type ResourceType, keyOf } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { AnyController, ApplyContext } from './definition.ts'

/** The shortest time between two writes of a status that may wait. */
const statusPaceMs = 50

interface Status {
  observedGeneration?: Int64
}

/** Writes the statuses of a controller's owners, each only if it differs from the stored one. */
export class StatusWriter {
  readonly #definition: AnyController
  readonly #caches: Caches
  readonly #clock: Clock
  readonly #type: string | undefined
  /** The time of the last write, by owner key. Kept only if the status may wait. */
  readonly #writtenMs = new Map<string, number>()

  constructor(definition: AnyController, caches: Caches, clock: Clock) {
    this.#definition = definition
    this.#caches = caches
    this.#clock = clock
    this.#type = definition.status?.type ?? statusTypeOf(definition.owner)
  }

  forget(key: string): void {
    this.#writtenMs.delete(key)
  }

  /** Writes a status and annotations. Returns the time after which to write it, if it has to wait. */
  async write(
    ctx: ApplyContext<KubeObject>,
    status: object | undefined,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<number | undefined> {
    const { owner, writer } = ctx
    const { owner: type, status: stage } = this.#definition
    // The actions may have taken long, and the owner may have been deleted since.
    if (!status || this.#caches.of(type).get(keyOf(owner))?.metadata.uid !== owner.metadata.uid) return undefined
    const { generation } = owner.metadata
    const isObserved = stage?.observesGeneration !== false && generation !== undefined
    const next: Status = isObserved ? { ...status, observedGeneration: generation } : status
    const { status: before } = owner as { status?: Status }
    const isAnnotated = Object.entries(annotations).every(([key, value]) => owner.metadata.annotations?.[key] === value)
    if (isAnnotated && isSameStatus(this.#type, before, next)) return undefined
    const waitMs = isAnnotated && before ? this.#waitMs(keyOf(owner), before, next) : 0
    if (waitMs > 0) return waitMs
    const told = { ...owner.metadata.annotations, ...annotations }
    const metadata = isAnnotated ? owner.metadata : { ...owner.metadata, annotations: told }
    await writer.updateStatus(type, { ...owner, metadata, status: next } as KubeObject)
    if (stage?.mayWait) this.#writtenMs.set(keyOf(owner), this.#clock.now())
    stage?.announce?.(ctx, before, next)
    return undefined
  }

  #waitMs(key: string, before: Status, next: Status): number {
    const lastMs = this.#writtenMs.get(key)
    const isSameGeneration = before.observedGeneration === next.observedGeneration
    if (lastMs === undefined || !isSameGeneration || !this.#definition.status?.mayWait?.(before, next)) return 0
    const agoMs = this.#clock.now() - lastMs
    // A clock that was set back is no reason to wait: the wait would repeat until the clock has caught up.
    return agoMs < 0 ? 0 : statusPaceMs - agoMs
  }
}

/**
 * The schema name of a kind's status, for Kubernetes' own API groups. Other groups may use the same names differently.
 */
export function statusTypeOf({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): string | undefined {
  if (group.includes('.') && !group.endsWith('.k8s.io')) return undefined
  const type = fieldOf(kind, 'status')?.type
  return type?.kind === 'struct' ? type.name : undefined
}

/**
 * Reports whether two statuses are equal once stored. Kubernetes omits some zero values and writes others. A status
 * computed with `readyReplicas: 0` equals a stored one without the field, and must not be written again.
 */
export function isSameStatus(typeName: string | undefined, a: unknown, b: unknown): boolean {
  if (semanticEqual(a, b)) return true
  if (!typeName || a === undefined || b === undefined) return false
  return semanticEqual(asStored(typeName, a), asStored(typeName, b))
}

function asStored(typeName: string, status: unknown): unknown {
  try {
    return decodeObject(typeName, status as Json).object
  } catch {
    return status // the server rejects it
  }
}
