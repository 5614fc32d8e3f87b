import type { DeleteOptions } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { type ResourceType, controllerOf } from '../../src/client/index.ts'
import { type Call, describe } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { World } from './world.ts'

/** Owners that want a number of children each. */
export interface Family {
  owner: ResourceType
  child: ResourceType
  wantedBy(owner: KubeObject): number
  /** True if a managed, not terminating object counts for the number. Default: all do. */
  counts?(object: KubeObject): boolean
}

/** The uid of an object's owner, if it is a child that is not terminating. */
const parentUid = ({ counts }: Family, object: KubeObject | undefined): string | undefined =>
  object && !object.metadata.deletionTimestamp && (counts?.(object) ?? true) ? controllerOf(object)?.uid : undefined

/** The children of an owner at a revision, except terminating ones. */
export const childrenAt = (world: World, family: Family, ownerUid: string, revision: number): KubeObject[] =>
  world.truth.listAt(family.child.plural, revision).filter((c) => parentUid(family, c) === ownerUid)

/** True if no process waits for the call: it was given up, it timed out, or its sender is dead. */
export const isLate = (call: Call): boolean => call.told !== 'nothing' || call.process.isDead

/** Children that were created late, by uid, with their revision. No process could know about them. */
export type LateChildren = Map<string, number>

/** The rules of every family. `saysRight` evaluates the status of an owner in the end. */
export function familyRules(family: Family, saysRight: (owner: KubeObject, children: number) => Verdict): Invariant[] {
  const late: LateChildren = new Map()
  return [neverTooMany(family, late), neverTooFew(family), enoughInTheEnd(family, late, saysRight)]
}

/**
 * No child is created beyond the number that its creator observed as desired. A late child was nobody's decision, and
 * must be removed.
 */
export function neverTooMany(family: Family, late: LateChildren): Invariant {
  const { plural } = family.child
  return {
    name: `never more ${plural} than wanted`,
    happened(call, world): Verdict {
      // Created, or adopted.
      const made = call.method !== 'DELETE' && call.plural === plural ? call.outcome?.object : undefined
      const life = world.lives.get(call.process)
      const ownerUid = parentUid(family, made)
      if (!life || !made || !ownerUid) return undefined
      const revision = Number(made.metadata.resourceVersion)
      if (isLate(call)) late.set(made.metadata.uid!, revision)
      if (isLate(call) || call.method !== 'POST') return undefined
      const { owner, seen } = life.observations.get(ownerUid)!
      const known = childrenAt(world, family, ownerUid, revision).filter((c) => (late.get(c.metadata.uid!) ?? 0) <= seen.get(plural)!).length
      const wanted = family.wantedBy(owner)
      return known > wanted ? `${life.identity} ${describe(call)} as number ${known}, and saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/** No child is deleted that was observed as desired, or as gone. */
function neverTooFew(family: Family): Invariant {
  const { plural } = family.child
  /** Lost children of an owner. `isDecided`: by a decision of the process that counts them. */
  const gone = new Map<string, { revision: number; ownerUid: string; isDecided: boolean }>()
  /** Deleted children. */
  const deleted = new Map<string, { revision: number; ownerUid: string }>()
  /** The child that a call deletes. */
  const uidOf = (call: Call): string =>
    call.method === 'DELETE' && call.plural === plural ? ((call.body as DeleteOptions | undefined)?.preconditions?.uid ?? '') : ''
  return {
    name: `no wanted one of ${plural} is deleted, and none twice`,
    changed({ plural: changed, before, after, revision }): Verdict {
      if (changed !== plural) return undefined
      const [was, is] = [parentUid(family, before), parentUid(family, after)]
      if (was && was !== is) gone.set(before!.metadata.uid!, { revision, ownerUid: was, isDecided: false })
      else if (is && is !== was) gone.delete(after!.metadata.uid!)
      const isDeleted = before && (!after || after.metadata.deletionTimestamp) && !before.metadata.deletionTimestamp
      if (isDeleted) deleted.set(before.metadata.uid!, { revision, ownerUid: controllerOf(before)?.uid ?? '' })
      return undefined
    },
    sent(call, world): Verdict {
      const before = deleted.get(uidOf(call))
      const life = world.lives.get(call.process)
      if (!before || !life) return undefined
      const seen = life.observations.get(before.ownerUid)?.seen.get(plural) ?? 0
      return seen >= before.revision ? `${life.identity} ${describe(call)}, though it has seen that one go at ${before.revision}` : undefined
    },
    happened(call, world): Verdict {
      const end = call.outcome?.object && gone.get(uidOf(call))
      const life = world.lives.get(call.process)
      if (!end || !life || isLate(call)) return undefined
      // Another owner deletes it.
      if ((controllerOf(call.outcome!.object!)?.uid ?? end.ownerUid) !== end.ownerUid) return undefined
      end.isDecided = true
      const { owner, seen } = life.observations.get(end.ownerUid)!
      if (owner.metadata.deletionTimestamp) return undefined
      const since = seen.get(plural)!
      const lost = [...gone.values()].filter((g) => g.ownerUid === end.ownerUid && !g.isDecided && g.revision > since).length
      const left = childrenAt(world, family, end.ownerUid, world.truth.revision).length
      const wanted = family.wantedBy(owner)
      return left + lost < wanted ? `${life.identity} ${describe(call)}: ${left} are left, and it saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/**
 * In the end every owner has the desired number of children. There are no others, except those that were created after
 * their owner was gone, which a garbage collector removes.
 */
function enoughInTheEnd(family: Family, late: LateChildren, saysRight: (owner: KubeObject, children: number) => Verdict): Invariant {
  return {
    name: `every owner has its ${family.child.plural}`,
    unfinished(world): Verdict {
      const owners = world.truth.list(family.owner.plural)
      for (const owner of owners) {
        const { name, uid, deletionTimestamp } = owner.metadata
        if (deletionTimestamp) return `${name} is still being deleted`
        const { length } = childrenAt(world, family, uid!, world.truth.revision)
        if (length !== family.wantedBy(owner)) return `${name} has ${length} and wants ${family.wantedBy(owner)}`
        const verdict = saysRight(owner, length)
        if (verdict) return `${name} ${verdict}`
      }
      const uids = new Set(owners.map((o) => o.metadata.uid))
      const orphan = world.truth.list(family.child.plural).find((c) => controllerOf(c) && !uids.has(controllerOf(c)!.uid) && !late.has(c.metadata.uid!))
      return orphan && `${orphan.metadata.name} is left of an owner that is gone`
    },
  }
}
