import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { isNotFound } from '../../api/errors.ts'
import { type ResourceType, refersTo } from '../../client/index.ts'
import type { FreeContext } from '../kit/index.ts'
import type { JudgedOwner, OwnerState } from './decide.ts'
import type { Node } from './graph.ts'
import type { Kinds } from './kinds.ts'
import { phaseOf } from './phase.ts'

/** Owners that are known to be gone; a uid never comes back. More are asked for anew. */
const mostRemembered = 10_000

/** What is known of all owners of an object. */
export interface Judged {
  owners: readonly JudgedOwner[]
  /** Whether one is there that no cache has: its end might go by unseen, so it is to be asked for again. */
  isUnsure: boolean
}

type Coordinates = Pick<ResourceType, 'group' | 'kind'> & { namespace: string; name: string; uid: string }

const keyOfOwner = ({ group, kind, namespace, name, uid }: Coordinates) => `${group} ${kind} ${namespace}/${name} ${uid}`

/** Finds out what became of owners: those that a cache has are there, and only the server can say that one is not. */
export class Owners {
  readonly #ctx: FreeContext
  readonly #kinds: Kinds
  readonly #gone = new Set<string>()
  /** Questions on their way: the dependents of one owner ask once. */
  readonly #asked = new Map<string, Promise<KubeObject | undefined>>()

  constructor(ctx: FreeContext, kinds: Kinds) {
    this.#ctx = ctx
    this.#kinds = kinds
  }

  /** The owner that a dependent in a namespace names, if a cache has it: by its kind, its name, and its uid. */
  cached(ref: OwnerReference, namespace: string): KubeObject | undefined {
    const at = ref.apiVersion.indexOf('/')
    const followed = this.#kinds.followed({ group: at < 0 ? '' : ref.apiVersion.slice(0, at), kind: ref.kind })
    if (!followed || !refersTo(ref, followed.type)) return undefined
    const found = followed.informer.get(followed.type.namespaced ? `${namespace}/${ref.name}` : ref.name)
    return found?.metadata.uid === ref.uid ? found : undefined
  }

  /** An object that was seen is gone. */
  noteGone({ group, kind }: ResourceType, { metadata: { namespace = '', name = '', uid = '' } }: KubeObject): void {
    this.#remember(keyOfOwner({ group, kind, namespace, name, uid }))
  }

  /** Undefined for an object that refers to an owner which it cannot have. Throws where nobody can say. */
  async judge(dependent: Node): Promise<Judged | undefined> {
    const { ownerReferences = [], namespace = '' } = dependent.object.metadata
    const owners: JudgedOwner[] = []
    let isUnsure = false
    for (const ref of ownerReferences) {
      const type = this.#kinds.served(ref.apiVersion, ref.kind)
      if (!type) throw new Error(`the server has no kind ${ref.kind} in ${ref.apiVersion}, which an owner is said to be of`)
      if (type.namespaced && namespace === '') {
        this.#tellWrongNamespace(dependent, ref, type)
        return undefined
      }
      const cached = this.cached(ref, namespace)
      // Whether it truly takes its dependents along is not a matter for a cache.
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
    if (this.#gone.size >= mostRemembered) for (const oldest of this.#gone) {
      this.#gone.delete(oldest)
      break
    }
    this.#gone.add(key)
  }

  /** Tells users of an owner that is there, and out of the dependent's reach. */
  #tellWrongNamespace({ type, object }: Node, ref: OwnerReference, ownerType: ResourceType): void {
    const { namespace = '', name, uid } = object.metadata
    const elsewhere = ownerType.namespaced && this.#kinds.followed(ownerType)?.informer.list().find((o) => o.metadata.uid === ref.uid)
    if (!elsewhere || elsewhere.metadata.namespace === namespace) return
    const apiVersion = type.group ? `${type.group}/${type.version}` : type.version
    const owner = `[${ref.apiVersion}/${ref.kind}, namespace: ${namespace}, name: ${ref.name}, uid: ${ref.uid}]`
    const about = { kind: type.kind, apiVersion, ...(namespace ? { namespace } : {}), name, uid }
    this.#ctx.event(about, 'Warning', 'OwnerRefInvalidNamespace', `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`)
  }
}
