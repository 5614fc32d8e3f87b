import type { PodSpec } from '../generated/types.ts'
import type { AnyContainer } from '../kinds/containers/visit-containers.ts'

/** The view of a pod or pod template that checks use. */
export interface CheckedPod {
  annotations: Readonly<Record<string, string>>
  spec: PodSpec
  /** All containers in Kubernetes' order: init, regular, ephemeral. */
  containers: readonly AnyContainer[]
}

/** A violation of a check: a short reason and the details. */
export interface Objection {
  reason: string
  detail: string
}

/** Undefined if the pod passes. */
export type CheckPod = (pod: CheckedPod) => Objection | undefined

/** A check of the Pod Security Standards, with the versions in which it changed. */
export interface Check {
  /** Violations are listed in the order of these names, those of the baseline level first. */
  id: string
  level: 'baseline' | 'restricted'
  versions: readonly CheckVersion[]
}

export interface CheckVersion {
  /** The first minor version of this revision. It applies until the next revision of the check. */
  since: number
  run: CheckPod
  /** The baseline check that this check replaces. */
  overrides?: string
}

/** Creates the view of a pod or pod template, shared by all checks. */
export function checkedPod(metadata: { annotations?: Record<string, string> } | undefined, spec: PodSpec): CheckedPod {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    containers: [...initContainers, ...containers, ...ephemeralContainers],
  }
}

/** The names of the containers that match. */
export const namesOf = (pod: CheckedPod, isSo: (container: AnyContainer) => boolean): string[] =>
  pod.containers.filter(isSo).map(({ name }) => name)

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many)

/** `"a", "b"` */
export const quoted = (items: readonly string[]): string => items.map((item) => `"${item}"`).join(', ')

/** Distinct values, sorted. */
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort()

/** `containers "a", "b"` */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`

/** `pod and container "a"`: the security contexts that set a field; empty if there are none. */
export const settersText = (ofPod: boolean, names: readonly string[]): string =>
  [...(ofPod ? ['pod'] : []), ...(names.length ? [containersText(names)] : [])].join(' and ')

export const isWindows = ({ spec }: CheckedPod): boolean => spec.os?.name === 'windows'

/** Root in the pod's own user namespace is unprivileged on the host. */
export const hasOwnUsers = ({ spec }: CheckedPod): boolean => spec.hostUsers === false

/** Exempts the pods that match from a check. */
export const unless =
  (isExcused: (pod: CheckedPod) => boolean, run: CheckPod): CheckPod =>
  (pod) =>
    isExcused(pod) ? undefined : run(pod)
