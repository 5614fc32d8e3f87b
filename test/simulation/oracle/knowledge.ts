import type { DeleteOptions, Node, PersistentVolumeClaim, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import { isAlreadyExists, isNotFound } from '../../../src/api/errors.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { type Call, isWrite, keyOfCall } from '../call.ts'
import type { Observation } from '../manager.ts'
import type { World } from '../world.ts'

/** Objects around a workload, in one of the states in which whoever decided may have known them. */
export interface Surroundings {
  pods: readonly Pod[]
  sets: readonly ReplicaSet[]
  nodes: readonly Node[]
  claims: readonly PersistentVolumeClaim[]
}

/** All that somebody went by who decided about a workload. */
export interface Knowledge {
  owner: KubeObject
  /** By its own clock. */
  atMs: number
  /** As the caches had it and, if it has written since, with what it was answered. */
  views: readonly Surroundings[]
  /** True if a write for this look was refused, lost, or answered with an error. */
  hasFailed: boolean
  /** The number of failed creates because of a taken name, and of changes to missing pods. They may count as done. */
  blur: number
}

/** An object as a process knows it from the answer to its own request. */
interface Answer {
  call: Call
  uid: string
  /** Undefined if it is gone. */
  object: KubeObject | undefined
}

/** The number of stored responses of a process: more than one reconcile has. */
const most = 200

const watched = ['pods', 'replicasets'] as const

/** Follows what managers write and are answered, so as to tell what they know beyond their caches. */
export class KnowledgeKeeper {
  /** The outcome of a call for an object, as soon as it is known. */
  readonly #outcomes = new WeakMap<Call, Answer>()
  /** By process: what it was answered, in order. */
  readonly #answers = new WeakMap<object, Answer[]>()
  readonly #failures = new WeakMap<object, Call[]>()

  happened(call: Call, world: World): void {
    if (!watched.includes(call.plural as (typeof watched)[number]) || !world.lives.has(call.process)) return
    // Its own status is what another controller of the same process tells.
    if (call.plural === 'replicasets' && call.subresource) return
    const name = call.name || call.outcome?.object?.metadata?.name
    // An object that is gone, or has another uid, counts as deleted.
    if (!name || (call.outcome?.error && call.method !== 'DELETE')) return
    const key = keyOfCall({ namespace: call.namespace, name })
    const change = call.method === 'DELETE' ? undefined : world.truth.change(Number(call.outcome?.object?.metadata.resourceVersion))
    const now = change?.key === key && change.plural === call.plural ? change.after : world.truth.get(call.plural, key)
    const uid = (call.method === 'DELETE' ? (call.body as DeleteOptions | undefined)?.preconditions?.uid : now?.metadata.uid) ?? ''
    const isGone = now?.metadata.uid !== uid
    if (isGone || !call.outcome?.error) this.#outcomes.set(call, { call, uid, object: isGone ? undefined : now })
  }

  answered(call: Call, world: World): void {
    if (!world.lives.has(call.process)) return
    const outcome = this.#outcomes.get(call)
    if (call.told === 'the truth' && outcome) push(this.#answers, call.process, outcome)
    if (isWrite(call) && (call.told !== 'the truth' || call.outcome?.error)) push(this.#failures, call.process, call)
  }

  /** The sender's knowledge of all objects around an owner. */
  of(call: Call, owner: KubeObject, observation: Observation, world: World): Knowledge {
    const { atMs, trueMs, seen, callsBefore } = observation
    const listed = (plural: string) => (seen.has(plural) ? world.truth.listAt(plural, seen.get(plural)!) : [])
    const before = surroundings(listed)
    // Reads have no number.
    const isSince = ({ call: { number, sentAtMs } }: Answer) => (number > 0 ? number > callsBefore : sentAtMs >= trueMs)
    const answers = (this.#answers.get(call.process) ?? []).filter(isSince)
    const views = answers.length > 0 ? [before, ...withAnswers(before, answers)] : [before]
    const failures = (this.#failures.get(call.process) ?? []).filter(({ number }) => number > callsBefore)
    const isBlurred = ({ method, outcome }: Call) => (method === 'POST' && isAlreadyExists(outcome?.error)) || (method === 'PATCH' && isNotFound(outcome?.error))
    const blur = failures.filter((failure) => failure.plural === 'pods' && isBlurred(failure)).length
    return { owner, atMs, views, hasFailed: failures.length > 0, blur }
  }

  /** Everything as it is, for who looks at it at a time. */
  static ofTruth(owner: KubeObject, atMs: number, world: World): Knowledge {
    return { owner, atMs, views: [surroundings((plural) => world.truth.list(plural))], hasFailed: false, blur: 0 }
  }
}

const surroundings = (list: (plural: string) => KubeObject[]): Surroundings => ({
  pods: list('pods') as Pod[],
  sets: list('replicasets') as ReplicaSet[],
  nodes: list('nodes') as Node[],
  claims: list('persistentvolumeclaims') as PersistentVolumeClaim[],
})

/**
 * Written objects are known, but not the state of pods since. A changed pod may count as out of service until a cache
 * shows it, or as unchanged; a deleted one as gone.
 */
function withAnswers(before: Surroundings, answers: readonly Answer[]): Surroundings[] {
  const pods = new Map(before.pods.map((pod) => [pod.metadata.uid!, pod]))
  const [shut, left, kept] = [new Map(pods), new Map(pods), new Map(pods)]
  const sets = new Map(before.sets.map((set) => [set.metadata.name!, set]))
  for (const { call: { plural, method, name }, uid, object } of answers) {
    if (plural === 'replicasets') {
      // One that was changed is as its owner saw it until the cache tells.
      if (!object) sets.delete(name)
      else if (!sets.has(object.metadata.name!)) sets.set(object.metadata.name!, object as ReplicaSet)
      continue
    }
    for (const some of [pods, shut, left, kept]) {
      const known = some.get(uid)
      if (method === 'DELETE' && known && some !== left && some !== kept) some.set(uid, going(known, object))
      else if (!object || method === 'DELETE') some.delete(uid)
      else if (!known) some.set(uid, object as Pod)
      else if (method === 'PATCH' && some !== kept) some.set(uid, changed(known, object as Pod, some === shut))
    }
  }
  return [kept, shut, left, pods].map((some) => ({ ...before, pods: [...some.values()], sets: [...sets.values()] }))
}

/** A pod that was deleted, as who did so thinks of it: it may have to end first. */
const going = (known: Pod, now: KubeObject | undefined): Pod => {
  const deletionTimestamp = now?.metadata.deletionTimestamp ?? known.metadata.deletionTimestamp ?? known.metadata.creationTimestamp
  return { ...known, metadata: { ...known.metadata, deletionTimestamp } }
}

/** A pod that was changed, as who did so thinks of it. */
const changed = (known: Pod, { metadata, spec }: Pod, isShut: boolean): Pod => {
  const { deletionTimestamp } = known.metadata
  return { ...known, metadata: { ...metadata, deletionTimestamp }, spec, status: isShut ? { phase: 'Running' } : known.status }
}

function push<T>(lists: WeakMap<object, T[]>, key: object, item: T): void {
  const list = lists.get(key)
  if (!list) lists.set(key, [item])
  else if (list.push(item) > most) list.splice(0, list.length - most / 2)
}
