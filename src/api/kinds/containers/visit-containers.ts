import type { Container, EphemeralContainer, PodSpec } from '../../generated/types.ts'
import type { Path } from '../../validation/path.ts'

export type AnyContainer = Container | EphemeralContainer

/** Calls `visit` for every container in Kubernetes' order: init, regular, ephemeral. `path` is the path of the spec. */
export function visitContainers(spec: PodSpec, path: Path, visit: (container: AnyContainer, path: Path) => void): void {
  for (const field of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const list = spec[field]
    if (!list?.length) continue
    const listPath = path.child(field)
    for (let i = 0; i < list.length; i++) visit(list[i]!, listPath.index(i))
  }
}

/** True if the pod has an init, regular or ephemeral container of this name. */
export function hasContainer(spec: PodSpec, name: string): boolean {
  const named = (container: AnyContainer) => container.name === name
  return !!(spec.containers?.some(named) || spec.initContainers?.some(named) || spec.ephemeralContainers?.some(named))
}
