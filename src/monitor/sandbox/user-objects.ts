import type { Pod } from '../../api/generated/types.ts'
import { mountFailure, sandboxConditionOf, sandboxReasons } from '../../api/kinds/sandbox-condition.ts'
import { type ReferredResource, referencesOfVolume } from '../../api/kinds/volume-references.ts'

/** The resources whose objects the owner of a pod provides. */
export type UserResource = ReferredResource

/** An object that a volume of a pod names, and without which the pod has no sandbox. */
export interface NamedObject {
  readonly volume: string
  readonly resource: UserResource
  /** `namespace/name` */
  readonly key: string
}

/** A known object; null if it is known to be absent, undefined if nobody knows. */
export type Found = { readonly createdAtMs: number | undefined } | null | undefined

/** True if a pod waits for its user at this moment. */
export interface Lack {
  readonly isAbsent: boolean
  /** The creation of the youngest object that the pod names; undefined where that is not known. */
  readonly completeAtMs: number | undefined
}

export const nothingLacks: Lack = { isAbsent: false, completeAtMs: undefined }

/** The cluster itself puts this config map into every namespace, and admission puts it into every pod. */
const clusterConfigMap = 'kube-root-ca.crt'

/** The objects that the volumes of a pod name. Optional ones are left out, and those that the cluster provides. */
export function namedObjects({ metadata, spec }: Pod): NamedObject[] {
  const named: NamedObject[] = []
  for (const volume of spec?.volumes ?? []) {
    for (const { resource, name, isOptional } of referencesOfVolume(volume)) {
      if (isOptional || (resource === 'configmaps' && name === clusterConfigMap)) continue
      named.push({ volume: volume.name, resource, key: `${metadata.namespace ?? ''}/${name}` })
    }
  }
  return named
}

const { configMapNotFound, configMapKeyNotFound, secretNotFound, secretKeyNotFound, claimNotFound } = sandboxReasons

/** The resource that each reason blames, and whether the object itself is there. */
const blamed: Readonly<Record<string, { resource: UserResource; isThere: boolean }>> = {
  [configMapNotFound]: { resource: 'configmaps', isThere: false },
  [configMapKeyNotFound]: { resource: 'configmaps', isThere: true },
  [secretNotFound]: { resource: 'secrets', isThere: false },
  [secretKeyNotFound]: { resource: 'secrets', isThere: true },
  [claimNotFound]: { resource: 'persistentvolumeclaims', isThere: false },
}

/**
 * True if a pod waits for an object that it names. An object that is known to be absent decides; so does one that is
 * known to be there, whatever the node says. The node's reason decides where nobody knows, and for keys of objects; it
 * must name a volume of this pod that names an object of that resource. No other word of the message counts.
 */
export function lackOf(pod: Pod, find: (object: NamedObject) => Found): Lack {
  const condition = sandboxConditionOf(pod)
  const named = namedObjects(pod)
  if (named.length === 0) return nothingLacks
  // A node that has forgotten the pod's past says Unknown, and knows as well what the pod waits for.
  const blame = condition && condition.status !== 'True' ? blamed[condition.reason ?? ''] : undefined
  let isAbsent = false
  let completeAtMs: number | undefined
  for (const object of named) {
    const found = find(object)
    if (found === null) isAbsent ||= condition?.status !== 'True'
    else if (found?.createdAtMs !== undefined) completeAtMs = Math.max(completeAtMs ?? 0, found.createdAtMs)
    const isBlamed = blame?.resource === object.resource && condition?.message?.startsWith(mountFailure(object.volume, ''))
    if (isBlamed && (blame.isThere ? found !== null : found === undefined)) isAbsent = true
  }
  return { isAbsent, completeAtMs }
}
