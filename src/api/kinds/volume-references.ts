import type { Volume } from '../generated/types.ts'

/** The resources whose objects volumes name. */
export type ReferredResource = 'configmaps' | 'secrets' | 'persistentvolumeclaims'

/** An object in the namespace of a pod that a volume names, and that must be there before the volume is mounted. */
export interface VolumeReference {
  readonly resource: ReferredResource
  readonly name: string
  /** True if the volume is mounted without it, too. */
  readonly isOptional: boolean
}

/** The sources that name a secret of their driver in `secretRef`. */
const withSecretRef = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'] as const

/** The sources that name a secret of their driver, in whichever field. */
export const driverSources = ['azureFile', 'csi', ...withSecretRef] as const

/** The secret by which a driver gets at a volume. */
const driverSecretOf = (volume: Volume): string | undefined =>
  volume.csi?.nodePublishSecretRef?.name ?? volume.azureFile?.secretName ?? withSecretRef.map((source) => volume[source]?.secretRef?.name).find(Boolean)

/** The objects that a volume names. The claim of an ephemeral volume is not among them: a controller makes it. */
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
