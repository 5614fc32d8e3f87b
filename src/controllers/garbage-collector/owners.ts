import { isNotFound } from '../../api/errors.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { type PropagationPolicy, type ResourceType, hasFinalizer, refersTo } from '../../client/index.ts'
import type { FreeContext, ServedKinds } from '../kit/index.ts'
import { type Node, foregroundFinalizer, orphanFinalizer, phaseOf } from './graph.ts'

/** The state of an owner: it exists, it is gone, or it waits for its dependents to be deleted first. */
export type OwnerState = 'solid' | 'gone' | 'waiting'

export interface JudgedOwner {
  ref: OwnerReference
  state: OwnerState
}

/** `Disown` keeps the object for its remaining owners. */
export type Decision =
  | { kind: 'Keep' }
  | { kind: 'Disown'; refs: readonly OwnerReference[] }
  | { kind: 'Delete'; policy: PropagationPolicy }

/**
 * Decides about an object that is not being deleted. One existing owner keeps it. An object without owner references is
 * never collected.
 */
export function decide(object: KubeObject, owners: readonly JudgedOwner[], hasDependents: boolean): Decision {
  if (owners.length === 0) return { kind: 'Keep' }
  const lost = owners.filter((o) => o.state !== 'solid')
  if (lost.length === 0) return { kind: 'Keep' }
  // A waiting owner must not wait for an object that other owners keep.
  if (lost.length < owners.length) return { kind: 'Disown', refs: lost.map((o) => o.ref) }
  if (hasDependents && owners.some((o) => o.state === 'waiting')) return { kind: 'Delete', policy: 'Foreground' }
  return { kind: 'Delete', policy: policyOf(object) }
}

/** The finalizers of an object determine the policy for its own dependents. */
function policyOf(object: KubeObject): PropagationPolicy {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan'
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
}

/** The maximum number of remembered owners that are gone. A UID is never reused. */
const mostRemembered = 10_000

/** The states of an object's owners. */
export interface Judged {
  owners: readonly JudgedOwner[]
  /** True if an owner exists that no cache contains. Its deletion might be missed, so the object is processed again. */
  isUnsure: boolean
}

type Coordinates = Pick<ResourceType, 'group' | 'kind'> & { namespace: string; name: string; uid: string }

const keyOfOwner = ({ group, kind, namespace, name, uid }: Coordinates) =>
  `${group} ${kind} ${namespace}/${name} ${uid}`

/** Determines the state of owners. A cached owner exists, and only the server can confirm that one does not. */
export class Owners {
  readonly #ctx: FreeContext
  readonly #kinds: ServedKinds
  readonly #gone = new Set<string>()
  /** Requests in flight, so that several dependents of one owner ask once. */
  readonly #asked = new Map<string, Promise<KubeObject | undefined>>()

  constructor(ctx: FreeContext, kinds: ServedKinds) {
    this.#ctx = ctx
    this.#kinds = kinds
  }

  /** The cached owner of a dependent, by kind, name and UID. */
  cached(ref: OwnerReference, namespace: string): KubeObject | undefined {
    const at = ref.apiVersion.indexOf('/')
    const followed = this.#kinds.followed({ group: at < 0 ? '' : ref.apiVersion.slice(0, at), kind: ref.kind })
    if (!followed || !refersTo(ref, followed.type)) return undefined
    const found = followed.informer.get(followed.type.namespaced ? `${namespace}/${ref.name}` : ref.name)
    return found?.metadata.uid === ref.uid ? found : undefined
  }

  /** A known object was deleted. */
  noteGone({ group, kind }: ResourceType, { metadata: { namespace = '', name = '', uid = '' } }: KubeObject): void {
    this.#remember(keyOfOwner({ group, kind, namespace, name, uid }))
  }

  /** Undefined for an object that refers to an owner in another scope. Throws if the server does not answer. */
  async judge(dependent: Node): Promise<Judged | undefined> {
    const { ownerReferences = [], namespace = '' } = dependent.object.metadata
    const owners: JudgedOwner[] = []
    let isUnsure = false
    for (const ref of ownerReferences) {
      const type = this.#kinds.served(ref.apiVersion, ref.kind)
      if (!type) {
        throw new Error(`the server has no kind ${ref.kind} in ${ref.apiVersion}, which an owner reference names`)
      }
      if (type.namespaced && namespace === '') {
        this.#tellWrongNamespace(dependent, ref, type)
        return undefined
      }
      const cached = this.cached(ref, namespace)
      // A foreground deletion is confirmed by the server, not by a cache.
      if (cached && phaseOf(cached) !== 'foreground') {
        owners.push({ ref, state: 'solid' })
        continue
      }
      const state = await this.#ask(dependent, ref, type)
      owners.push({ ref, state })
      if (!cached && state !== 'gone') isUnsure = true
    }
    return { owners, isUnsure }
  }

  async #ask(dependent: Node, ref: OwnerReference, type: ResourceType): Promise<OwnerState> {
    const namespace = type.namespaced ? (dependent.object.metadata.namespace ?? '') : ''
    const key = keyOfOwner({ ...type, namespace, name: ref.name, uid: ref.uid })
    if (this.#gone.has(key)) return 'gone'
    const live = await this.#live(key, type, namespace, ref.name)
    if (live?.metadata.uid === ref.uid) return phaseOf(live) === 'foreground' ? 'waiting' : 'solid'
    if (!this.#gone.has(key)) this.#tellWrongNamespace(dependent, ref, type)
    this.#remember(key)
    return 'gone'
  }

  #live(key: string, type: ResourceType, namespace: string, name: string): Promise<KubeObject | undefined> {
    const asked = this.#asked.get(key)
    if (asked) return asked
    const answer = this.#ctx.client.get(type, namespace, name, { signal: this.#ctx.signal }).catch((e: unknown) => {
      if (isNotFound(e)) return undefined
      throw e
    })
    this.#asked.set(key, answer)
    const forget = () => void this.#asked.delete(key)
    answer.then(forget, forget)
    return answer
  }

  #remember(key: string): void {
    if (this.#gone.size >= mostRemembered)
      for (const oldest of this.#gone) {
        this.#gone.delete(oldest)
        break
      }
    this.#gone.add(key)
  }

  /** Emits an event about an owner in another namespace. */
  #tellWrongNamespace({ type, object }: Node, ref: OwnerReference, ownerType: ResourceType): void {
    const { namespace = '', name, uid } = object.metadata
    const elsewhere =
      ownerType.namespaced &&
      this.#kinds
        .followed(ownerType)
        ?.informer.list()
        .find((o) => o.metadata.uid === ref.uid)
    if (!elsewhere || elsewhere.metadata.namespace === namespace) return
    const apiVersion = type.group ? `${type.group}/${type.version}` : type.version
    const owner = `[${ref.apiVersion}/${ref.kind}, namespace: ${namespace}, name: ${ref.name}, uid: ${ref.uid}]`
    const about = { kind: type.kind, apiVersion, ...(namespace ? { namespace } : {}), name, uid }
    this.#ctx.event(
      about,
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    )
  }
}
