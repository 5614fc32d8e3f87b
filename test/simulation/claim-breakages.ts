import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/types.ts'
import { claimUsed, neverUsed } from '../../src/api/kinds/workloads/claim-recovery.ts'
import { provisionedBy } from '../../src/api/kinds/volumes/volume-binding.ts'
import type { claimRecoveryController } from '../../src/controllers/claim-recovery/controller.ts'

type Definition = typeof claimRecoveryController

/** A bug in a controller's view of claims and volumes. */
interface Delusion {
  claim?(claim: PersistentVolumeClaim): PersistentVolumeClaim
  volume?(volume: PersistentVolume): PersistentVolume
}

/** The claim as if it were unused. */
const unmarked = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  ({ ...claim, metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, [claimUsed]: neverUsed } } })

/** The volume as if it were provisioned for its claim. */
const provisioned = ({ metadata, spec, ...rest }: PersistentVolume): PersistentVolume => ({
  ...rest,
  metadata: { ...metadata, name: `${metadata.name}-${spec.claimRef?.uid}`, annotations: { [provisionedBy]: 'x' } },
  spec,
})

/** The claim as if it had such a volume. */
const withProvisioned = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  claim.spec.volumeName ? { ...claim, spec: { ...claim.spec, volumeName: `${claim.spec.volumeName}-${claim.metadata.uid}` } } : claim

/** Bugs of claim recovery that lose data. Each is detected within two hundred seeds of its scenario. */
export const delusions = {
  /** Marks are not read: a pod's report that it never had a sandbox is sufficient. */
  'claim-mark-unread': { claim: unmarked },
  /** Every volume counts as provisioned for its claim. */
  'claim-volume-unread': { claim: withProvisioned, volume: provisioned },
} satisfies Record<string, Delusion>

/** The bug that is planted in all managers at present. */
export const deluded: { by: Delusion | undefined } = { by: undefined }

/** The controller of claim recovery with the planted bug, if any. */
export function withDelusion(definition: Definition): Definition {
  const { by } = deluded
  if (!by) return definition
  const claim = (real: PersistentVolumeClaim) => by.claim?.(real) ?? real
  const volume = (real: PersistentVolume) => by.volume?.(real) ?? real
  const { Decide: decide } = definition.apply
  if (typeof decide !== 'function') throw new Error('Decide is a function')
  return {
    ...definition,
    observe(context, set) {
      const seen = definition.observe(context, set)
      const members = seen.members.map((member) => ({ ...member, claims: member.claims.map((one) => ({ ...one, claim: claim(one.claim) })) }))
      const storage = () => ({ claims: seen.storage().claims.map(claim), volumes: seen.storage().volumes.map(volume) })
      return { ...seen, members, storage }
    },
    apply: {
      ...definition.apply,
      Decide: (context, action) => {
        const ask = async <T>(path: string, query?: Readonly<Record<string, string>>): Promise<T> => {
          const answer = await context.ask<{ items?: unknown[] }>(path, query)
          const distort = path.endsWith('/persistentvolumeclaims') ? claim : path.endsWith('/persistentvolumes') ? volume : undefined
          return (distort ? { ...answer, items: answer.items?.map((item) => distort(item as never)) } : answer) as T
        }
        return decide({ ...context, ask }, action)
      },
    },
  }
}
