import type { DeleteOptions } from '../../src/api/generated/types.ts'
import { isAlreadyExists } from '../../src/api/errors.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { type SharedInformer, controllerOf } from '../../src/client/index.ts'
import { type Call, describe } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { Observation } from './manager.ts'
import type { World } from './world.ts'

/** Every delete of a controller has the uid of its object, because another object may have its name. */
export const deletesNameTheirObject = (): Invariant => ({
  name: 'a delete names the uid of its object',
  sent(call, world): Verdict {
    if (call.method !== 'DELETE' || !call.name || !world.lives.has(call.process)) return undefined
    const { uid } = (call.body as DeleteOptions | undefined)?.preconditions ?? {}
    return uid ? undefined : `${call.process.name} ${describe(call)}, whichever object has that name`
  },
})

/** A create with a generated name. */
interface Making {
  who: string
  name: string
  /** Names of failed creates that must be reused, with the observation of that time. */
  kept: Map<string, Observation | undefined>
  look: Observation | undefined
}

/**
 * A failed create is repeated with the same name. If the first request still arrives, one of the two fails, so there
 * are never two objects. Within one reconcile of an owner, others may be created meanwhile. A new term starts without
 * names.
 */
export const namesAreUsedAgain = (): Invariant => {
  /** By the kind's cache, which differs by term; then by owner and prefix. */
  const lines = new WeakMap<SharedInformer, Map<string, Making['kept']>>()
  const makings = new WeakMap<Call, Making>()
  const makingOf = (call: Call, world: World): Making | undefined => {
    const life = world.lives.get(call.process)
    const object = call.method === 'POST' && !call.subresource ? (call.body as KubeObject) : undefined
    const { generateName, name } = object?.metadata ?? {}
    const owner = object && controllerOf(object)?.uid
    const informer = life && [...life.caches].find((cache) => cache.informer.type.plural === call.plural)?.informer
    if (!generateName || !name || !owner || !informer) return undefined
    const ofTerm = lines.get(informer) ?? new Map<string, Making['kept']>()
    lines.set(informer, ofTerm)
    const line = `${owner} ${call.namespace}/${generateName}`
    const kept = ofTerm.get(line) ?? new Map<string, Observation | undefined>()
    ofTerm.set(line, kept)
    return { who: life.identity, name, kept, look: life.observations.get(owner) }
  }
  return {
    name: 'a create that has failed is repeated under the same name',
    sent(call, world): Verdict {
      const making = makingOf(call, world)
      if (!making) return undefined
      makings.set(call, making)
      const { who, name, kept, look } = making
      if (kept.delete(name)) return undefined
      const isFree = (other: string) => world.truth.changesOf(call.plural, `${call.namespace}/${other}`).length === 0
      const due = [...kept].find(([other, before]) => before !== look && isFree(other))?.[0]
      return due && `${who} ${describe(call)}, though it has sent ${due} before and nobody has that name`
    },
    answered(call): Verdict {
      const making = makings.get(call)
      const { error } = call.outcome ?? {}
      const isSettled = call.told === 'the truth' && (!error || isAlreadyExists(error))
      if (making && !isSettled && call.told !== 'gave up') making.kept.set(making.name, making.look)
      return undefined
    },
  }
}
