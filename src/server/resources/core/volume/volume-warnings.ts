import type { PersistentVolume, PersistentVolumeSpec } from '../../../../api/generated/types.ts'
import { deprecatedNodeLabels } from '../../../../api/kinds/placement/node-matching.ts'
import { betaStorageClass } from './volume-columns.ts'

const deprecatedSources: Partial<Record<keyof PersistentVolumeSpec, string>> = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

function* nodeLabelWarnings(spec: PersistentVolumeSpec): Generator<string> {
  for (const [i, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    for (const [j, { key }] of (term.matchExpressions ?? []).entries()) {
      const said = deprecatedNodeLabels.get(key)
      if (said) yield `spec.nodeAffinity.required.nodeSelectorTerms[${i}].matchExpressions[${j}].key: ${key} is ${said}`
    }
  }
}

/** The warnings for a valid volume: deprecated and unsupported settings. */
export function volumeWarnings({ metadata, spec }: PersistentVolume): string[] {
  const warnings: string[] = []
  const annotated = (name: string, said: string) => {
    if (metadata.annotations?.[name] !== undefined) warnings.push(`metadata.annotations[${name}]: ${said}`)
  }
  annotated(betaStorageClass, 'deprecated since v1.8; use "storageClassName" attribute instead')
  annotated('volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead')
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    )
  }
  warnings.push(...nodeLabelWarnings(spec))
  for (const [field, said] of Object.entries(deprecatedSources)) {
    if (spec[field as keyof PersistentVolumeSpec] !== undefined) warnings.push(`spec.${field}: ${said}`)
  }
  return warnings
}
