import type { Pod, Volume } from '../../generated/types.ts'

/** Resources that volumes can refer to. */
export type ReferredResource = 'configmaps' | 'secrets' | 'persistentvolumeclaims'

/** An object in the pod's namespace that must exist before the volume can be mounted. */
interface VolumeReference {
  readonly resource: ReferredResource
  readonly name: string
  /** True if the volume can be mounted without it. */
  readonly isOptional: boolean
}

/** Volume sources with the secret of their driver in `secretRef`. */
const withSecretRef = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'] as const

/** Volume sources with a secret of their driver in any field. */
export const driverSources = ['azureFile', 'csi', ...withSecretRef] as const

/** The secret that a driver needs to access a volume. */
const driverSecretOf = (volume: Volume): string | undefined =>
  volume.csi?.nodePublishSecretRef?.name ??
  volume.azureFile?.secretName ??
  withSecretRef.map((source) => volume[source]?.secretRef?.name).find(Boolean)

/** The objects that a volume refers to, except the claim of an ephemeral volume, which a controller creates. */
export function referencesOfVolume(volume: Volume): VolumeReference[] {
  const found: VolumeReference[] = []
  const add = (resource: ReferredResource, name: string | undefined, isOptional = false) => {
    if (name) found.push({ resource, name, isOptional })
  }
  const { configMap, secret, persistentVolumeClaim, projected } = volume
  add('configmaps', configMap?.name, configMap?.optional)
  add('secrets', secret?.secretName, secret?.optional)
  add('persistentvolumeclaims', persistentVolumeClaim?.claimName)
  add('secrets', driverSecretOf(volume))
  for (const source of projected?.sources ?? []) {
    add('configmaps', source.configMap?.name, source.configMap?.optional)
    add('secrets', source.secret?.name, source.secret?.optional)
  }
  return found
}

/** The names of the claims that a pod mounts, including those of its ephemeral volumes. */
export const claimNamesOf = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : []),
  )

/** The keys (`namespace/name`) of the claims that a pod mounts. */
export const claimKeysOf = (pod: Pod): string[] => claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`)
