import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { New } from '../../client/index.ts'
import { type ClaimNameOf, claimsOfTemplates, namePrefix, podOfTemplate, volumesWithClaims } from '../kit/workload/index.ts'
import { instanceIdLabel } from './member.ts'
import { type Revision, revisionLabels } from './revision.ts'

const idLength = 5
const maxPrefixLength = 63 - idLength

/** What the names of a set's pods begin with. */
export const podPrefix = ({ metadata }: CloneSet): string => namePrefix(metadata.name!).slice(0, maxPrefixLength)

/** The id of the pod with this name. */
export const idOf = (podName: string): string => podName.slice(-idLength)

/** The id of the pod that a claim is for; '' if it does not say. */
export const idOfClaim = ({ metadata }: PersistentVolumeClaim): string => metadata.labels?.[instanceIdLabel] ?? ''

/** A pod of a revision, before anything that lifecycles want of it. */
export function newPod(set: CloneSet, revision: Revision, id: string): New<Pod> {
  const pod = podOfTemplate(revision.template, { name: podPrefix(set) + id, labels: { ...revisionLabels(revision), [instanceIdLabel]: id } })
  const volumes = volumesWithClaims(set.spec.volumeClaimTemplates ?? [], revision.template.spec?.volumes, claimNames(set, id))
  return { ...pod, spec: { ...pod.spec, ...volumes } }
}

const claimNames = ({ metadata }: CloneSet, id: string): ClaimNameOf => (template) => `${template.metadata.name}-${metadata.name}-${id}`

/** The claims of the pod with this id. */
export const newClaims = (set: CloneSet, id: string): New<PersistentVolumeClaim>[] =>
  claimsOfTemplates(set.spec.volumeClaimTemplates ?? [], claimNames(set, id), { ...set.spec.selector.matchLabels, [instanceIdLabel]: id }, set.metadata.namespace)
