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
}

/** Children of an owner that are there, and are to stay, at a revision. */
export const childrenAt = (world: World, { child }: Family, ownerUid: string, revision: number): KubeObject[] =>
  world.truth.listAt(child.plural, revision).filter((c) => controllerOf(c)?.uid === ownerUid && !c.metadata.deletionTimestamp)

/** Whether nobody waits any more for what the call does: it was given up, not answered in time, or its sender is dead. */
const isLate = (call: Call): boolean => call.told !== 'nothing' || call.process.isDead

/** Children that came late, by uid, and the revisions at which they came: nobody could know of those. */
type LateChildren = Map<string, number>

/** What must hold of every family. `saysRight` judges what an owner says of itself in the end. */
export function familyRules(family: Family, saysRight: (owner: KubeObject, children: number) => Verdict): Invariant[] {
  const late: LateChildren = new Map()
  return [neverTooMany(family, late), neverTooFew(family), enoughInTheEnd(family, late, saysRight)]
}

/** No child is made that makes them more than its maker saw that are wanted. What came late was nobody's decision by then; it has to go again. */
function neverTooMany(family: Family, late: LateChildren): Invariant {
  const { plural } = family.child
  return {
    name: `never more ${plural} than wanted`,
    happened(call, world): Verdict {
      const made = call.method === 'POST' && call.plural === plural ? call.outcome?.object : undefined
      const life = world.lives.get(call.process)
      const ownerUid = made && controllerOf(made)?.uid
      if (!life || !ownerUid) return undefined
      const revision = Number(made.metadata.resourceVersion)
      if (isLate(call)) {
        late.set(made.metadata.uid!, revision)
        return undefined
      }
      const { owner, seen } = life.observations.get(ownerUid)!
      const known = childrenAt(world, family, ownerUid, revision).filter((c) => (late.get(c.metadata.uid!) ?? 0) <= seen.get(plural)!).length
      const wanted = family.wantedBy(owner)
      return known > wanted ? `${life.identity} ${describe(call)} as number ${known}, and saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/** No child is deleted that its deleter saw to be wanted, nor one that it has seen go. */
function neverTooFew(family: Family): Invariant {
  const { plural } = family.child
  /** Children that have gone, and when; `isDecided` if by the decision of who counts them. */
  const gone = new Map<string, { revision: number; ownerUid: string; isDecided: boolean }>()
  /** The child that a call is to delete. */
  const uidOf = (call: Call): string =>
    call.method === 'DELETE' && call.plural === plural ? ((call.body as DeleteOptions | undefined)?.preconditions?.uid ?? '') : ''
  return {
    name: `no wanted one of ${plural} is deleted, and none twice`,
    changed({ plural: changed, before, after, revision }): Verdict {
      if (changed !== plural || !before) return undefined
      const isGone = !after || (after.metadata.deletionTimestamp && !before.metadata.deletionTimestamp)
      if (isGone && !gone.has(before.metadata.uid!)) gone.set(before.metadata.uid!, { revision, ownerUid: controllerOf(before)?.uid ?? '', isDecided: false })
      return undefined
    },
    sent(call, world): Verdict {
      const before = gone.get(uidOf(call))
      const life = world.lives.get(call.process)
      if (!before || !life) return undefined
      const seen = life.observations.get(before.ownerUid)?.seen.get(plural) ?? 0
      return seen >= before.revision ? `${life.identity} ${describe(call)}, though it has seen that one go at ${before.revision}` : undefined
    },
    happened(call, world): Verdict {
      const end = call.outcome?.object && gone.get(uidOf(call))
      const life = world.lives.get(call.process)
      if (!end || !life || isLate(call)) return undefined
      end.isDecided = true
      const { owner, seen } = life.observations.get(end.ownerUid)!
      if (owner.metadata.deletionTimestamp) return undefined
      const since = seen.get(plural)!
      const lost = [...gone.values()].filter((g) => g.ownerUid === end.ownerUid && !g.isDecided && g.revision > since && g.revision < end.revision).length
      const left = childrenAt(world, family, end.ownerUid, end.revision).length
      const wanted = family.wantedBy(owner)
      return left + lost < wanted ? `${life.identity} ${describe(call)}: ${left} are left, and it saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/** In the end every owner has as many children as it wants, and there are no others but such as came when their owner was gone: a garbage collector's business. */
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
