import { createHash } from 'node:crypto'
import type { Container, EphemeralContainer, Pod } from '../../api/generated/types.ts'
import { isRestartableInitContainer } from '../../api/kinds/pods/pod-level-resources.ts'
import { shouldRestart } from '../../api/kinds/containers/container-restart.ts'

export type ContainerSort = 'regular' | 'init' | 'sidecar' | 'ephemeral'

/** A container of any sort, as the agent runs it. */
export interface PodContainer {
  sort: ContainerSort
  spec: Container
}

const sortOfInit = (container: Container): ContainerSort => (isRestartableInitContainer(container) ? 'sidecar' : 'init')

/** Init containers and sidecars, in start order. */
export const initContainersOf = (pod: Pod): PodContainer[] =>
  (pod.spec.initContainers ?? []).map((spec) => ({ sort: sortOfInit(spec), spec }))

export const regularContainersOf = (pod: Pod): PodContainer[] =>
  pod.spec.containers.map((spec) => ({ sort: 'regular', spec }))

export const ephemeralContainersOf = (pod: Pod): PodContainer[] =>
  (pod.spec.ephemeralContainers ?? []).map((spec: EphemeralContainer) => ({
    sort: 'ephemeral',
    spec: spec as Container,
  }))

/** All containers of a pod: init containers first, ephemeral containers last. */
export const containersOf = (pod: Pod): PodContainer[] => [
  ...initContainersOf(pod),
  ...regularContainersOf(pod),
  ...ephemeralContainersOf(pod),
]

const fieldOfSort: Record<ContainerSort, string> = {
  regular: 'containers',
  init: 'initContainers',
  sidecar: 'initContainers',
  ephemeral: 'ephemeralContainers',
}

/** The field path of a container, as events name it. */
export const fieldPathOf = ({ sort, spec }: PodContainer): string => `spec.${fieldOfSort[sort]}{${spec.name}}`

/** A hash of the fields that require a restart when they change: the name and the image. */
export const hashOf = ({ name, image }: Container): string =>
  createHash('sha1')
    .update(`${name}\n${image ?? ''}`)
    .digest('hex')
    .slice(0, 8)

/** True if a container that ended with `exitCode` is restarted. */
export function restarts(pod: Pod, { sort, spec }: PodContainer, exitCode: number): boolean {
  if (sort === 'ephemeral') return false
  if (sort === 'sidecar') return true
  // A successful init container is never restarted, whatever the restart policy.
  if (sort === 'init') return exitCode !== 0 && (pod.spec.restartPolicy ?? 'Always') !== 'Never'
  return shouldRestart(spec, pod.spec.restartPolicy ?? 'Always', exitCode)
}

/** The error of a container that could not be started, with the waiting reason for its status. */
export class StartError extends Error {
  readonly reason: string
  /** The delay before the next attempt; undefined for the worker's own. */
  readonly retryMs: number | undefined

  constructor(reason: string, message: string, retryMs?: number) {
    super(message)
    this.name = 'StartError'
    this.reason = reason
    this.retryMs = retryMs
  }
}
