import type { Pod } from '../../src/api/generated/types.ts'
import { controllerOf, pods } from '../../src/client/index.ts'
import { type Call, describe, isWrite, keyOfCall } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { Observation } from './manager.ts'
import type { World } from './world.ts'

/** A controller's choice among several pods, and the criterion for it. */
export interface Choice {
  /** The chosen pod as it was observed. */
  chosen: Pod
  /** Observed pods that could have been chosen instead. */
  others: readonly Pod[]
  serves(pod: Pod): boolean
}

export interface Look {
  ownerUid: string
  observation: Observation
  /** All pods as they were observed. */
  pods: readonly Pod[]
}

function lookOf(call: Call, world: World): Look | undefined {
  // A user may have removed the owner reference since, which the manager has not seen.
  const owners = world.truth.changesOf(pods.plural, keyOfCall(call)).map(({ after, before }) => controllerOf((after ?? before)!)?.uid)
  const ownerUid = owners.findLast((uid) => uid !== undefined)
  const observation = ownerUid && world.lives.get(call.process)?.observations.get(ownerUid)
  if (!observation) return undefined
  return { ownerUid, observation, pods: world.truth.listAt(pods.plural, observation.seen.get(pods.plural)!) as Pod[] }
}

/**
 * No pod that serves is given up while one that does not is kept, in the observed state. All writes of a reconcile are
 * sent in one step. `choiceOf` returns the choice of a write to a pod. Undefined if it is none.
 */
export const usefulGoLast = (choiceOf: (call: Call, look: Look) => Choice | undefined): Invariant => {
  /** The pods that each reconcile has written. */
  const touched = new WeakMap<Observation, Set<string>>()
  let made: { choice: Choice; look: Observation; who: string }[] = []
  return {
    name: 'pods that serve nobody are given up first',
    sent(call, world): Verdict {
      if (call.plural !== pods.plural || !call.name || !isWrite(call)) return undefined
      const look = lookOf(call, world)
      if (!look) return undefined
      const { observation } = look
      touched.set(observation, (touched.get(observation) ?? new Set()).add(call.name))
      const choice = choiceOf(call, look)
      const who = `${call.process.name} ${describe(call)}`
      if (choice?.serves(choice.chosen)) made.push({ choice, look: observation, who })
      return undefined
    },
    afterStep(): Verdict {
      const judged = made
      if (judged.length > 0) made = []
      for (const { choice, look, who } of judged) {
        const isSpared = (pod: Pod) => !choice.serves(pod) && !touched.get(look)!.has(pod.metadata.name!)
        const spared = choice.others.find(isSpared)
        if (spared) return `${who}, which serves, and spares ${spared.metadata.name}, which does not`
      }
      return undefined
    },
  }
}
