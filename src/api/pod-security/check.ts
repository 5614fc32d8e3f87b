import type { PodSpec } from '../generated/types.ts'
import type { AnyContainer } from '../kinds/visit-containers.ts'

/** A pod, or what a template would make, as checks look at it. */
export interface CheckedPod {
  annotations: Readonly<Record<string, string>>
  spec: PodSpec
  /** Of every sort, in Kubernetes' order: init, regular, ephemeral. */
  containers: readonly AnyContainer[]
}

/** A check's objection: a short reason, and what exactly is meant. */
export interface Objection {
  reason: string
  detail: string
}

/** Undefined where a pod may pass. */
export type CheckPod = (pod: CheckedPod) => Objection | undefined

/** One rule of the Pod Security Standards, with the versions in which it changed. */
export interface Check {
  /** Objections are told in the order of these names, those of the baseline level first. */
  id: string
  level: 'baseline' | 'restricted'
  versions: readonly CheckVersion[]
}

export interface CheckVersion {
  /** The first minor version that has it; it counts until the next one of the same check. */
  since: number
  run: CheckPod
  /** A check of the baseline level that is weaker and says the same: it is left out. */
  overrides?: string
}

/** A pod or a pod template, taken apart once for all checks. */
export function checkedPod(metadata: { annotations?: Record<string, string> } | undefined, spec: PodSpec): CheckedPod {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    containers: [...initContainers, ...containers, ...ephemeralContainers],
  }
}

/** The names of containers of which something is true. */
export const namesOf = (pod: CheckedPod, isSo: (container: AnyContainer) => boolean): string[] =>
  pod.containers.filter(isSo).map(({ name }) => name)

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many)

/** `"a", "b"` */
export const quoted = (items: readonly string[]): string => items.map((item) => `"${item}"`).join(', ')

/** Each once, in order. */
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort()

/** `containers "a", "b"` */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`

/** `pod and container "a"`: who said something in a security context; empty where nobody did. */
export const settersText = (ofPod: boolean, names: readonly string[]): string =>
  [...(ofPod ? ['pod'] : []), ...(names.length ? [containersText(names)] : [])].join(' and ')

export const isWindows = ({ spec }: CheckedPod): boolean => spec.os?.name === 'windows'

/** Root in a user namespace of the pod's own is nobody on the host. */
export const hasOwnUsers = ({ spec }: CheckedPod): boolean => spec.hostUsers === false

/** A check that does not count for pods of which something is true. */
export const unless = (isExcused: (pod: CheckedPod) => boolean, run: CheckPod): CheckPod =>
  (pod) => (isExcused(pod) ? undefined : run(pod))
