import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { generatedSuffixLength, maxGeneratedPrefix } from '../../api/generated-name.ts'
import type { New } from '../../client/index.ts'
import {
  type ClaimNameOf,
  claimsOfTemplates,
  namePrefix,
  podOfTemplate,
  volumesWithClaims,
} from '../kit/workload/index.ts'
import { type Revision, revisionLabels } from './revisions.ts'

export const instanceIdLabel = 'apps.kruise.io/cloneset-instance-id'

/** The prefix of pod names. */
export const podPrefix = ({ metadata }: CloneSet): string => namePrefix(metadata.name!).slice(0, maxGeneratedPrefix)

/** The ID in a pod name. */
export const idOf = (podName: string): string => podName.slice(-generatedSuffixLength)

/** A pod of a revision, before lifecycle fields are added. */
export function newPod(set: CloneSet, revision: Revision, id: string): New<Pod> {
  const pod = podOfTemplate(revision.template, {
    name: podPrefix(set) + id,
    labels: { ...revisionLabels(revision), [instanceIdLabel]: id },
  })
  const volumes = volumesWithClaims(
    set.spec.volumeClaimTemplates ?? [],
    revision.template.spec?.volumes,
    claimNames(set, id),
  )
  return { ...pod, spec: { ...pod.spec, ...volumes } }
}

const claimNames =
  ({ metadata }: CloneSet, id: string): ClaimNameOf =>
  (template) =>
    `${template.metadata.name}-${metadata.name}-${id}`

/** The claims of the pod with this ID. */
export const newClaims = (set: CloneSet, id: string): New<PersistentVolumeClaim>[] =>
  claimsOfTemplates(
    set.spec.volumeClaimTemplates ?? [],
    claimNames(set, id),
    { ...set.spec.selector.matchLabels, [instanceIdLabel]: id },
    set.metadata.namespace,
  )
