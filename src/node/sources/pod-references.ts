import type { Pod } from '../../api/generated/types.ts'
import { referencesOfVolume } from '../../api/kinds/volumes/volume-references.ts'
import { type ResourceType, configmaps, persistentvolumeclaims, secrets } from '../../client/index.ts'
import { containersOf } from '../pods/containers.ts'

const types = { configmaps, secrets, persistentvolumeclaims } as const

interface Reference {
  type: ResourceType
  name: string
}

/** The objects of its namespace that a pod needs before it can start, without duplicates. */
export function referencesOf(pod: Pod): Reference[] {
  const found = new Map<string, Reference>()
  const add = (type: ResourceType, name: string | undefined) => {
    if (name) found.set(`${type.plural}/${name}`, { type, name })
  }
  for (const volume of pod.spec.volumes ?? []) {
    for (const { resource, name } of referencesOfVolume(volume)) add(types[resource], name)
    if (volume.ephemeral) add(persistentvolumeclaims, `${pod.metadata.name}-${volume.name}`)
  }
  for (const { spec } of containersOf(pod)) {
    for (const { configMapRef, secretRef } of spec.envFrom ?? []) {
      add(configmaps, configMapRef?.name)
      add(secrets, secretRef?.name)
    }
    for (const { valueFrom } of spec.env ?? []) {
      add(configmaps, valueFrom?.configMapKeyRef?.name)
      add(secrets, valueFrom?.secretKeyRef?.name)
    }
  }
  for (const { name } of pod.spec.imagePullSecrets ?? []) add(secrets, name)
  return [...found.values()]
}
