import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery, claimUsed, neverUsed } from '../../api/kinds/claim-recovery.ts'
import type { New } from '../../client/index.ts'
import { type ClaimNameOf, claimsOfTemplates, podOfTemplate, revisionHashLabel, volumesWithClaims } from '../kit/workload/index.ts'

export const podNameLabel = 'statefulset.kubernetes.io/pod-name'
export const podIndexLabel = 'apps.kubernetes.io/pod-index'

/** The ordinal of a pod of this set, told by its name; undefined for a name that no pod of the set has. */
export function ordinalOf({ metadata: { name = '' } }: StatefulSet, podName: string): number | undefined {
  if (!podName.startsWith(name) || podName[name.length] !== '-') return undefined
  let ordinal = 0
  // Without a pattern: every look at a set asks for every pod.
  for (let i = name.length + 1; i < podName.length; i++) {
    const digit = podName.charCodeAt(i) - zero
    if (!(digit >= 0 && digit <= 9) || (ordinal === 0 && i > name.length + 1)) return undefined
    ordinal = ordinal * 10 + digit
  }
  return podName.length > name.length + 1 && ordinal <= maxOrdinal ? ordinal : undefined
}

const zero = '0'.charCodeAt(0)

const maxOrdinal = 2_147_483_647

/** The name of the set whose pod has this name. */
export const setNameOf = (podName: string): string => podName.slice(0, podName.lastIndexOf('-'))

export const startOrdinal = (set: StatefulSet): number => set.spec.ordinals?.start ?? 0

export const podNameAt = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`

/** The claim that a pod with this ordinal has for one of the set's templates. */
export const claimNameAt = (set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string =>
  `${template.metadata.name}-${podNameAt(set, ordinal)}`

/** Which revision a pod says it is of. */
export const revisionOf = (pod: Pick<Pod, 'metadata'>): string => pod.metadata.labels?.[revisionHashLabel] ?? ''

/** The labels that make a pod the one with this ordinal. */
export const identityLabels = (name: string, ordinal: number): Record<string, string> => ({ [podNameLabel]: name, [podIndexLabel]: String(ordinal) })

/** The pod with this ordinal, as a revision's template has it. */
export function newPod(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number): New<Pod> {
  const name = podNameAt(set, ordinal)
  const pod = podOfTemplate(template, { name, labels: { ...identityLabels(name, ordinal), [revisionHashLabel]: revision } })
  const subdomain = set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}
  const volumes = volumesWithClaims(set.spec.volumeClaimTemplates ?? [], template.spec?.volumes, claimNamesAt(set, ordinal))
  return { ...pod, spec: { ...pod.spec, hostname: name, ...subdomain, ...volumes } }
}

/** The claims that the pod with this ordinal needs, by name. Those that may be made anew say that nobody has used them. */
export function newClaims(set: StatefulSet, ordinal: number): New<PersistentVolumeClaim>[] {
  const { volumeClaimTemplates = [], selector } = set.spec
  const claims = claimsOfTemplates(volumeClaimTemplates, claimNamesAt(set, ordinal), selector.matchLabels ?? {}, set.metadata.namespace)
  return asksForClaimRecovery(set) ? claims.map(unused) : claims
}

/** A template that has the annotation itself keeps its own value: whoever writes a time there wants the claim kept. */
const unused = ({ metadata, ...claim }: New<PersistentVolumeClaim>): New<PersistentVolumeClaim> =>
  ({ ...claim, metadata: { ...metadata, annotations: { [claimUsed]: neverUsed, ...metadata.annotations } } })

const claimNamesAt = (set: StatefulSet, ordinal: number): ClaimNameOf => (template) => claimNameAt(set, template, ordinal)
