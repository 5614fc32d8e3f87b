import { createHash } from 'node:crypto'
import type { Container, EphemeralContainer, Pod } from '../../api/generated/types.ts'
import { isRestartableInitContainer } from '../../api/kinds/pod-level-resources.ts'
import { shouldRestart } from '../../api/kinds/container-restart.ts'

export type ContainerSort = 'regular' | 'init' | 'sidecar' | 'ephemeral'

/** A container of whatever sort, as the agent runs it. */
export interface PodContainer {
  sort: ContainerSort
  spec: Container
}

const sortOfInit = (container: Container): ContainerSort => (isRestartableInitContainer(container) ? 'sidecar' : 'init')

/** Init containers and sidecars, in the order in which they are started. */
export const initContainersOf = (pod: Pod): PodContainer[] => (pod.spec.initContainers ?? []).map((spec) => ({ sort: sortOfInit(spec), spec }))

export const regularContainersOf = (pod: Pod): PodContainer[] => pod.spec.containers.map((spec) => ({ sort: 'regular', spec }))

export const ephemeralContainersOf = (pod: Pod): PodContainer[] =>
  (pod.spec.ephemeralContainers ?? []).map((spec: EphemeralContainer) => ({ sort: 'ephemeral', spec: spec as Container }))

/** All of them: init containers first, ephemeral ones last. */
export const containersOf = (pod: Pod): PodContainer[] => [...initContainersOf(pod), ...regularContainersOf(pod), ...ephemeralContainersOf(pod)]

const fieldOfSort: Record<ContainerSort, string> = { regular: 'containers', init: 'initContainers', sidecar: 'initContainers', ephemeral: 'ephemeralContainers' }

/** Where a container is in its pod, as events say it. */
export const fieldPathOf = ({ sort, spec }: PodContainer): string => `spec.${fieldOfSort[sort]}{${spec.name}}`

/** Tells one state of a container's spec from another, as far as a running container depends on it: its image. */
export const hashOf = ({ name, image }: Container): string => createHash('sha1').update(`${name}\n${image ?? ''}`).digest('hex').slice(0, 8)

/** Whether a container that ended so is started again. */
export function restarts(pod: Pod, { sort, spec }: PodContainer, exitCode: number): boolean {
  if (sort === 'ephemeral') return false
  if (sort === 'sidecar') return true
  // An init container that ended well is done, whatever the pod's policy.
  if (sort === 'init') return exitCode !== 0 && (pod.spec.restartPolicy ?? 'Always') !== 'Never'
  return shouldRestart(spec, pod.spec.restartPolicy ?? 'Always', exitCode)
}
