import type { Container, Pod, PodSpec, ResourceRequirements } from '../../generated/types.ts'
import { semanticEqual } from '../../deep-equal.ts'
import { type FieldError, forbidden, invalid } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { metaPath, specPath, validatePod } from './pod.ts'
import { mirrorAnnotation, validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { computeQosClass, qosClassOf } from './qos.ts'
import type { ResourceList } from '../quantities/resource-names.ts'

/** An error of the object as a whole, with the path that Kubernetes prints. */
const wholeObject = (detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field: '[]',
  message: `Forbidden: ${detail}`,
})

/** Restores everything except the spec from the old pod. */
function keepAllBut(pod: Pod, old: Pod, spec: PodSpec): void {
  const { resourceVersion } = pod.metadata
  pod.metadata = { ...old.metadata, resourceVersion }
  pod.spec = spec
  pod.status = old.status
}

/** The ephemeralcontainers subresource changes only ephemeral containers. */
export function prepareEphemeralContainersUpdate(pod: Pod, old: Pod): void {
  keepAllBut(pod, old, { ...old.spec, ephemeralContainers: pod.spec.ephemeralContainers })
}

/** Ephemeral containers can be added, never changed or removed. */
export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  validatePod(pod, errors)
  validatePodAnnotationsUpdate(pod.metadata, old.metadata, pod.spec, metaPath.child('annotations'), errors)
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) {
    return [wholeObject('static pods do not support ephemeral containers')]
  }
  const path = specPath.child('ephemeralContainers')
  for (const was of old.spec.ephemeralContainers ?? []) {
    const now = pod.spec.ephemeralContainers?.find((container) => container.name === was.name)
    const about = `existing ephemeral containers ${JSON.stringify(was.name)}`
    if (!now) errors.push(forbidden(path, `${about} may not be removed\n`))
    else if (!semanticEqual(now, was)) errors.push(forbidden(path, `${about} may not be changed\n`))
  }
  return errors
}

/** Restores a container except for its resources. Containers that did not exist are left for validation to reject. */
function withResizes(
  containers: readonly Container[] | undefined,
  old: readonly Container[] | undefined,
): Container[] | undefined {
  return containers?.map((container) => {
    const was = old?.find((o) => o.name === container.name)
    return was ? { ...was, resources: container.resources, resizePolicy: container.resizePolicy } : container
  })
}

/** The resize subresource changes only resources and resize policies. */
export function prepareResize(pod: Pod, old: Pod): void {
  const [spec, was] = [pod.spec, old.spec]
  keepAllBut(pod, old, {
    ...was,
    containers: withResizes(spec.containers, was.containers) ?? [],
    initContainers: withResizes(spec.initContainers, was.initContainers),
    resources: spec.resources,
  })
}

/** A running container shows whether its node supports resizing: such a node reports resources in the status. */
function isResizeSupported(pod: Pod): boolean {
  const running = pod.status?.containerStatuses?.find((status) => status.state?.running)
  return !running || running.resources !== undefined
}

const isRemoved = (list: ResourceList | undefined, old: ResourceList | undefined): boolean =>
  Object.keys(old ?? {}).some((name) => list?.[name] === undefined)

function validateNothingRemoved(
  resources: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (isRemoved(resources?.requests, old?.requests)) {
    errors.push(forbidden(path.child('requests'), 'resource requests cannot be removed'))
  }
  if (isRemoved(resources?.limits, old?.limits))
    errors.push(forbidden(path.child('limits'), 'resource limits cannot be removed'))
}

/** True if two resource lists differ only in cpu and memory. */
function sameOtherResources(list: ResourceList | undefined, old: ResourceList | undefined): boolean {
  const names = new Set([...Object.keys(list ?? {}), ...Object.keys(old ?? {})])
  return [...names].every((name) => name === 'cpu' || name === 'memory' || list?.[name] === old?.[name])
}

const sameButCpuAndMemory = (
  resources: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
): boolean =>
  sameOtherResources(resources?.limits, old?.limits) &&
  sameOtherResources(resources?.requests, old?.requests) &&
  semanticEqual(resources?.claims, old?.claims)

function validateSameContainers(
  containers: readonly Container[],
  old: readonly Container[],
  path: Path,
  errors: FieldError[],
): boolean {
  if (containers.length !== old.length) {
    errors.push(forbidden(path, 'containers may not be added or removed on resize'))
    return false
  }
  const moved = containers.findIndex((container, i) => container.name !== old[i]!.name)
  if (moved < 0) return true
  errors.push(forbidden(path.index(moved).child('name'), 'containers may not be renamed or reordered on resize'))
  return false
}

function validateContainerResizes(
  containers: readonly Container[],
  old: readonly Container[],
  path: Path,
  errors: FieldError[],
): void {
  for (const [i, container] of containers.entries()) {
    const was = old[i]!
    validateNothingRemoved(container.resources, was.resources, path.index(i).child('resources'), errors)
    if (
      !sameButCpuAndMemory(container.resources, was.resources) ||
      !semanticEqual(container.resizePolicy, was.resizePolicy)
    ) {
      errors.push(forbidden(specPath, 'only cpu and memory resources are mutable'))
    }
  }
}

/** Validates a resize: only cpu and memory may change, and the QoS class must stay the same. */
export function validateResize(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  const [spec, was] = [pod.spec, old.spec]
  validatePod(pod, errors)
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return [wholeObject('static pods cannot be resized')]
  if (was.os?.name === 'windows') return [wholeObject('windows pods cannot be resized')]
  const [containers, oldContainers] = [spec.containers ?? [], was.containers ?? []]
  const [inits, oldInits] = [spec.initContainers ?? [], was.initContainers ?? []]
  if (!validateSameContainers(containers, oldContainers, specPath.child('containers'), errors)) return errors
  if (!validateSameContainers(inits, oldInits, specPath.child('initContainers'), errors)) return errors
  if (qosClassOf(old) !== computeQosClass(spec)) {
    errors.push(invalid(specPath, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'))
  }
  if (!isResizeSupported(old)) errors.push(forbidden(specPath, 'Pod running on node without support for resize'))
  validateContainerResizes(inits, oldInits, specPath.child('initContainers'), errors)
  validateContainerResizes(containers, oldContainers, specPath.child('containers'), errors)
  validateNothingRemoved(spec.resources, was.resources, specPath.child('resources'), errors)
  if (!sameButCpuAndMemory(spec.resources, was.resources)) {
    errors.push(forbidden(specPath, 'only cpu and memory resources are mutable'))
  }
  return errors
}
