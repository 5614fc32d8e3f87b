import type { Pod } from '../../api/generated/types.ts'
import { mountFailure, sandboxConditionOf, sandboxReasons } from '../../api/kinds/pods/sandbox-condition.ts'
import { type ReferredResource, referencesOfVolume } from '../../api/kinds/volumes/volume-references.ts'

/** The resources that the owner of a pod provides. */
export type UserResource = ReferredResource

/** An object that a volume of a pod names, and that its sandbox needs. */
export interface NamedObject {
  readonly volume: string
  readonly resource: UserResource
  /** In the form `namespace/name`. */
  readonly key: string
}

/** A cached object. Null if it is known to be missing, undefined if unknown. */
export type Found = { readonly createdAtMs: number | undefined } | null | undefined

/** True if a pod waits for its user at this moment. */
export interface Lack {
  readonly isAbsent: boolean
  /** The creation time of the youngest object that the pod names. Undefined if unknown. */
  readonly completeAtMs: number | undefined
}

export const nothingLacks: Lack = { isAbsent: false, completeAtMs: undefined }

/** The cluster creates this config map in every namespace, and admission adds it to every pod. */
const clusterConfigMap = 'kube-root-ca.crt'

/** The objects that the volumes of a pod name, without optional ones and those of the cluster. */
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

/** The resource that each reason refers to, and whether the object itself exists. */
const blamed: Readonly<Record<string, { resource: UserResource; isThere: boolean }>> = {
  [configMapNotFound]: { resource: 'configmaps', isThere: false },
  [configMapKeyNotFound]: { resource: 'configmaps', isThere: true },
  [secretNotFound]: { resource: 'secrets', isThere: false },
  [secretKeyNotFound]: { resource: 'secrets', isThere: true },
  [claimNotFound]: { resource: 'persistentvolumeclaims', isThere: false },
}

/**
 * True if a pod waits for an object that it names. A cached or known missing object decides, whatever the node reports.
 * The node's reason decides for unknown objects, and for keys of objects. Its message must name a volume of this pod
 * that names an object of that resource. Other words are ignored.
 */
export function lackOf(pod: Pod, find: (object: NamedObject) => Found): Lack {
  const condition = sandboxConditionOf(pod)
  const named = namedObjects(pod)
  if (named.length === 0) return nothingLacks
  // A node that has lost the pod's history reports Unknown, and its reason for the wait is valid as well.
  const blame = condition && condition.status !== 'True' ? blamed[condition.reason ?? ''] : undefined
  let isAbsent = false
  let completeAtMs: number | undefined
  for (const object of named) {
    const found = find(object)
    if (found === null) isAbsent ||= condition?.status !== 'True'
    else if (found?.createdAtMs !== undefined) completeAtMs = Math.max(completeAtMs ?? 0, found.createdAtMs)
    const isBlamed =
      blame?.resource === object.resource && condition?.message?.startsWith(mountFailure(object.volume, ''))
    if (isBlamed && (blame.isThere ? found !== null : found === undefined)) isAbsent = true
  }
  return { isAbsent, completeAtMs }
}
