import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/types.ts'
import { claimUsed, neverUsed } from '../../src/api/kinds/workloads/claim-recovery.ts'
import { provisionedBy } from '../../src/api/kinds/volumes/volume-binding.ts'
import type { claimRecoveryController } from '../../src/controllers/claim-recovery/index.ts'

type Definition = typeof claimRecoveryController

/** What a controller with a certain bug takes claims and volumes for. */
interface Delusion {
  claim?(claim: PersistentVolumeClaim): PersistentVolumeClaim
  volume?(volume: PersistentVolume): PersistentVolume
}

/** The claim as one that nobody has used. */
const unmarked = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  ({ ...claim, metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, [claimUsed]: neverUsed } } })

/** The volume as one that was provisioned for the claim that it has. */
const provisioned = ({ metadata, spec, ...rest }: PersistentVolume): PersistentVolume => ({
  ...rest,
  metadata: { ...metadata, name: `${metadata.name}-${spec.claimRef?.uid}`, annotations: { [provisionedBy]: 'x' } },
  spec,
})

/** The claim as one that has such a volume. */
const withProvisioned = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  claim.spec.volumeName ? { ...claim, spec: { ...claim.spec, volumeName: `${claim.spec.volumeName}-${claim.metadata.uid}` } } : claim

/** Bugs of claim recovery that lose data, each found within two hundred seeds of its scenario. */
export const delusions = {
  /** Marks are not read: whoever has a pod that says it never had a sandbox is believed. */
  'claim-mark-unread': { claim: unmarked },
  /** Whatever volume a claim has counts as its own. */
  'claim-volume-unread': { claim: withProvisioned, volume: provisioned },
} satisfies Record<string, Delusion>

/** The bug that all managers have at the moment. */
export const deluded: { by: Delusion | undefined } = { by: undefined }

/** The controller of claim recovery with the bug that is planted, if there is one. */
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
