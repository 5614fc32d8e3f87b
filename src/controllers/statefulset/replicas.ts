import type { PersistentVolumeClaim } from '../../api/generated/types.ts'
import type { New } from '../../client/index.ts'
import { ownClaims } from './claims.ts'
import { claimNameAt, identityLabels, newClaims, newPod, podNameAt, startOrdinal } from './identity.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'
import { isBrokenRollout } from './recovery.ts'
import { isLeaving } from './retention.ts'
import type { Slot } from './slots.ts'

/** Gives every place its pod. In order, each place waits for the ones before it. Claims are looked after before a pod goes that they may belong to. */
export function fillReplicas(look: Look): Stage {
  const deletes: Action[] = []
  const creates: Action[] = []
  const mends: Action[] = []
  for (const slot of look.replicas) {
    const before = deletes.length + creates.length
    if (!slot.pod) {
      const leaving = leavingClaimOf(look, slot)
      if (leaving && look.isOrdered) return stop([...mends, ...deletes, ...creates], `claim ${leaving} is to go before pod ${podNameAt(look.seen.set, slot.ordinal)} is made`)
      if (!leaving) creates.push(createAt(look, slot))
    } else {
      mend(look, slot, mends)
      if (slot.isFinished && !slot.isTerminating) deletes.push({ kind: 'DeletePod', pod: slot.pod })
      else if (look.isOrdered && isBrokenRollout(look, slot)) deletes.push({ kind: 'DeletePod', pod: slot.pod, ifUnchanged: true })
    }
    if (!look.isOrdered) continue
    if (deletes.length + creates.length > before || slot.isUnavailable) return stop([...mends, ...deletes, ...creates], waitFor(look, slot))
  }
  return { actions: [...mends, ...deletes, ...creates] }
}

const stop = (actions: readonly Action[], wait: string): Stage => ({ actions, wait })

function waitFor({ seen }: Look, { pod, ordinal }: Slot): string {
  return pod ? `pod ${pod.metadata.name} is not available yet` : `pod ${podNameAt(seen.set, ordinal)} is being made`
}

/** A pod below the partition comes back as it was; all others are of the new revision. */
function createAt(look: Look, { ordinal }: Slot): Action {
  const { set } = look.seen
  const { current, update } = look.revisions
  const isKept = set.spec.updateStrategy.type === 'RollingUpdate' && ordinal < startOrdinal(set) + look.partition
  const revision = isKept ? current : update
  return { kind: 'CreatePod', pod: newPod(set, revision.template, revision.name, ordinal), claims: missingClaims(look, ordinal) }
}

const missingClaims = ({ seen: { set, claims } }: Look, ordinal: number): New<PersistentVolumeClaim>[] =>
  newClaims(set, ordinal).filter((claim) => !claims.has(claim.metadata.name!))

function leavingClaimOf({ seen: { set, claims } }: Look, { ordinal }: Slot): string | undefined {
  const names = (set.spec.volumeClaimTemplates ?? []).map((template) => claimNameAt(set, template, ordinal))
  return names.find((name) => claims.has(name) && isLeaving(set, podNameAt(set, ordinal), claims.get(name)!))
}

/** What a pod that is there may lack: the owners its claims should have; claims, while it still waits for them; its name as a label. */
function mend(look: Look, { pod, ordinal, isFinished, isTerminating, isPending, isNamed }: Member, actions: Action[]): void {
  if (look.seen.set.spec.volumeClaimTemplates?.length) actions.push(...ownClaims(look, pod, ordinal, false))
  if (isFinished || isTerminating) return
  const claims = isPending ? missingClaims(look, ordinal) : []
  if (claims.length > 0) actions.push({ kind: 'CreateClaims', pod, claims })
  if (!isNamed) actions.push({ kind: 'LabelPod', pod, labels: identityLabels(pod.metadata.name!, ordinal) })
}
