import type { PodSpec } from '../../generated/types.ts'
import { type FieldError, forbidden, notSupported, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { visitContainers } from '../containers/visit-containers.ts'

const systems = ['linux', 'windows']

const notOnLinux = 'windows options cannot be set for a linux pod'
const notOnWindows = 'cannot be set for a windows pod'

function validateLinux(spec: PodSpec, path: Path, errors: FieldError[]): void {
  if (spec.securityContext?.windowsOptions)
    errors.push(forbidden(path.child('securityContext', 'windowsOptions'), notOnLinux))
  visitContainers(spec, path, (container, at) => {
    if (container.securityContext?.windowsOptions)
      errors.push(forbidden(at.child('securityContext', 'windowsOptions'), notOnLinux))
  })
}

/** In Kubernetes' order. */
const podContextFields = [
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'shareProcessNamespace',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const

const containerContextFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const

function validateWindows(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const context = spec.securityContext ?? {}
  const at = path.child('securityContext')
  if (context.appArmorProfile) errors.push(forbidden(at.child('appArmorProfile'), notOnWindows))
  if (context.seLinuxOptions) errors.push(forbidden(at.child('seLinuxOptions'), notOnWindows))
  if (spec.hostUsers !== undefined) errors.push(forbidden(path.child('hostUsers'), notOnWindows))
  if (spec.hostPID) errors.push(forbidden(path.child('hostPID'), notOnWindows))
  if (spec.hostIPC) errors.push(forbidden(path.child('hostIPC'), notOnWindows))
  for (const field of podContextFields) {
    if (field === 'shareProcessNamespace') {
      if (spec.shareProcessNamespace !== undefined) errors.push(forbidden(path.child(field), notOnWindows))
    } else if (context[field] !== undefined) {
      errors.push(forbidden(at.child(field), notOnWindows))
    }
  }
  visitContainers(spec, path, (container, containerPath) => {
    const own = container.securityContext
    if (!own) return
    for (const field of containerContextFields) {
      if (own[field] !== undefined) errors.push(forbidden(containerPath.child('securityContext', field), notOnWindows))
    }
  })
}

/** Validates the operating system of a pod, and rejects fields of the other operating system. */
export function validatePodOs(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const name = spec.os!.name
  if (!name) errors.push(required(path.child('os', 'name')))
  else if (!systems.includes(name)) errors.push(notSupported(path.child('os'), name, systems))
  else if (name === 'linux') validateLinux(spec, path, errors)
  else validateWindows(spec, path, errors)
}
