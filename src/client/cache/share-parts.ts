import type { KubeObject } from '../../api/object.ts'

type Members = Record<string, unknown>
type WithStatus = KubeObject & { status?: unknown }

/** Maximum number of owners with a sample. */
const maxSamples = 4096

/**
 * Lets new objects share equal parts with cached ones: with their previous version, and with the last object of the
 * same owner, because pods of a ReplicaSet differ little. A pod of 4.0 KB takes 1.5 KB, and comparing two versions is
 * fast where parts are identical. Frozen objects belong to the server of this process and are not changed.
 */
export class PartSharing {
  /** The last object of each owner, by uid. */
  readonly #samples = new Map<string, KubeObject>()

  share(old: KubeObject | undefined, object: KubeObject): void {
    if (Object.isFrozen(object)) return
    const owner = object.metadata.ownerReferences?.[0]?.uid
    const sample = owner === undefined ? undefined : this.#samples.get(owner)
    if (old) shareWithOld(old, object, sample)
    else if (sample) shareMembers(sample as unknown as Members, object as unknown as Members)
    if (owner === undefined) return
    if (!sample && this.#samples.size >= maxSamples) this.#samples.clear()
    this.#samples.set(owner, object)
  }
}

/** A status changes with nearly every event, and then resembles a sibling's status more than its own previous one. */
function shareWithOld(old: WithStatus, object: WithStatus, sample: WithStatus | undefined): void {
  const { status } = object
  const like = (sample ?? old).status
  if (status !== undefined && status !== old.status) object.status = shared(like, status)
  shareMembers(old as unknown as Members, object as unknown as Members, 'status')
}

/**
 * Replaces members of a value by equal members of another value. Returns true if all are equal, ignoring the member
 * `passedOver`.
 */
function shareMembers(others: Members, members: Members, passedOver?: string): boolean {
  let isSame = true
  for (const name in members) {
    if (name === passedOver) continue
    const [other, member] = [others[name], members[name]]
    const value = shared(other, member)
    if (value !== other) isSame = false
    // Equal strings may be stored twice.
    else if (typeof member === 'object' ? member !== other : typeof member === 'string') members[name] = other
  }
  return isSame
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns `other` if both are equal, else `value` with as many shared parts as possible. */
function shared(other: unknown, value: unknown): unknown {
  if (other === value || !isNested(other) || !isNested(value)) return value
  if (Object.isFrozen(value) || Array.isArray(other) !== Array.isArray(value)) return value
  const isSame = shareMembers(other as Members, value as Members)
  return isSame && sizeOf(other) === sizeOf(value) ? other : value
}

function sizeOf(value: object): number {
  if (Array.isArray(value)) return value.length
  let size = 0
  for (const _ in value) size++
  return size
}
