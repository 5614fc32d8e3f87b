import type { Container, ContainerPort, ContainerResizePolicy, PodSpec, Volume } from '../../generated/types.ts'
import type { Int64 } from '../../numbers/int64.ts'
import { notSupportedInOrder } from '../../validation/field-checks.ts'
import {
  type FieldError,
  duplicate,
  forbidden,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../../validation/field-error.ts'
import { isDns1123Label, isPortName, isPortNumber } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateContainerRestart } from './container-restart.ts'
import { validateEnv, validateEnvFrom } from './env.ts'
import { isRestartableInitContainer } from '../pods/pod-level-resources.ts'
import { validateLifecycle, validateProbes } from './probes.ts'
import { type ClaimNames, validateContainerRequirements } from './resource-requirements.ts'
import { validateContainerSecurityContext } from './security-context.ts'
import type { AnyContainer } from './visit-containers.ts'
import { validateVolumeDevices, validateVolumeMounts } from '../volumes/volume-mounts.ts'

/** The facts about the pod that container validation needs. */
export interface ContainerContext {
  volumes: ReadonlyMap<string, Volume>
  claims: ClaimNames
  gracePeriod: Int64 | undefined
  restartPolicy: string
  hostUsers: boolean
}

const protocols = ['SCTP', 'TCP', 'UDP']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const messagePolicies = ['File', 'FallbackToLogsOnError']
const resizeResources = ['cpu', 'memory']
const resizePolicies = ['NotRequired', 'RestartContainer']

function validatePorts(ports: readonly ContainerPort[], path: Path, errors: FieldError[]): void {
  const names = new Set<string>()
  for (let i = 0; i < ports.length; i++) {
    const port = ports[i]!
    if (port.name) {
      const problems = isPortName(port.name)
      for (const problem of problems) errors.push(invalid(path.index(i).child('name'), port.name, problem))
      if (names.has(port.name)) errors.push(duplicate(path.index(i).child('name'), port.name))
      else if (problems.length === 0) names.add(port.name)
    }
    if (!port.containerPort) errors.push(required(path.index(i).child('containerPort')))
    else {
      for (const problem of isPortNumber(port.containerPort)) {
        errors.push(invalid(path.index(i).child('containerPort'), port.containerPort, problem))
      }
    }
    if (port.hostPort) {
      for (const problem of isPortNumber(port.hostPort))
        errors.push(invalid(path.index(i).child('hostPort'), port.hostPort, problem))
    }
    if (!port.protocol) errors.push(required(path.index(i).child('protocol')))
    else if (!protocols.includes(port.protocol))
      errors.push(notSupported(path.index(i).child('protocol'), port.protocol, protocols))
  }
}

/** A host port can be used only once per protocol and address. */
function validateHostPortsDiffer(containers: readonly Container[], path: Path, errors: FieldError[]): void {
  let taken: Set<string> | undefined
  for (let c = 0; c < containers.length; c++) {
    const ports = containers[c]!.ports
    if (!ports) continue
    for (let p = 0; p < ports.length; p++) {
      const port = ports[p]!
      if (!port.hostPort) continue
      taken ??= new Set()
      const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`
      if (taken.has(key)) errors.push(duplicate(path.index(c).child('ports').index(p).child('hostPort'), key))
      taken.add(key)
    }
  }
}

function validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podPolicy: string,
  path: Path,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  for (const [i, { resourceName, restartPolicy }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), resourceName))
    seen.add(resourceName)
    if (!resourceName) errors.push(required(path))
    else if (!resizeResources.includes(resourceName)) errors.push(notSupported(path, resourceName, resizeResources))
    if (!restartPolicy) errors.push(required(path))
    else if (!resizePolicies.includes(restartPolicy)) errors.push(notSupported(path, restartPolicy, resizePolicies))
    if (podPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, restartPolicy ?? '', "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    }
  }
}

/** Validation that is common to all types of containers. */
function validateCommon(container: AnyContainer, path: Path, context: ContainerContext, errors: FieldError[]): void {
  if (!container.name) errors.push(required(path.child('name')))
  else
    for (const problem of isDns1123Label(container.name))
      errors.push(invalid(path.child('name'), container.name, problem))
  if (!container.image) errors.push(required(path.child('image')))
  const { terminationMessagePolicy, imagePullPolicy } = container
  if (!terminationMessagePolicy) errors.push(required(path.child('terminationMessagePolicy')))
  else if (!messagePolicies.includes(terminationMessagePolicy)) {
    errors.push(notSupportedInOrder(path.child('terminationMessagePolicy'), terminationMessagePolicy, messagePolicies))
  }
  if (container.ports) validatePorts(container.ports, path.child('ports'), errors)
  if (container.env) validateEnv(container.env, path.child('env'), errors)
  if (container.envFrom) validateEnvFrom(container.envFrom, path.child('envFrom'), errors)
  if (container.volumeMounts) validateVolumeMounts(container, context.volumes, path.child('volumeMounts'), errors)
  if (container.volumeDevices) validateVolumeDevices(container, context.volumes, path.child('volumeDevices'), errors)
  if (!imagePullPolicy) errors.push(required(path.child('imagePullPolicy')))
  else if (!pullPolicies.includes(imagePullPolicy)) {
    errors.push(notSupported(path.child('imagePullPolicy'), imagePullPolicy, pullPolicies))
  }
  if (container.resources)
    validateContainerRequirements(container.resources, context.claims, path.child('resources'), errors)
  if (container.resizePolicy)
    validateResizePolicy(container.resizePolicy, context.restartPolicy, path.child('resizePolicy'), errors)
  if (container.securityContext) {
    validateContainerSecurityContext(
      container.securityContext,
      context.hostUsers,
      path.child('securityContext'),
      errors,
    )
  }
}

/** Validates the regular containers. */
export function validateContainers(
  containers: readonly Container[],
  path: Path,
  context: ContainerContext,
  errors: FieldError[],
): void {
  if (containers.length === 0) {
    errors.push(required(path))
    return
  }
  const names = new Set<string>()
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i]!
    const at = path.index(i)
    validateCommon(container, at, context, errors)
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name))
    names.add(container.name)
    if (container.lifecycle) validateLifecycle(container.lifecycle, context.gracePeriod, at.child('lifecycle'), errors)
    validateProbes(container, at, errors)
    validateContainerRestart(container, at, errors)
  }
  validateHostPortsDiffer(containers, path, errors)
}

const onlyForSidecars = 'may not be set for init containers without restartPolicy=Always'

/** Validates the init containers. Sidecars are validated as regular containers. */
export function validateInitContainers(
  spec: PodSpec,
  path: Path,
  context: ContainerContext,
  errors: FieldError[],
): void {
  const names = new Set((spec.containers ?? []).map((container) => container.name))
  for (const [i, container] of spec.initContainers!.entries()) {
    const at = path.index(i)
    validateCommon(container, at, context, errors)
    validateContainerRestart(container, at, errors)
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name))
    else if (container.name) names.add(container.name)
    validateHostPortsDiffer([container], path, errors)
    if (isRestartableInitContainer(container)) {
      if (container.lifecycle)
        validateLifecycle(container.lifecycle, context.gracePeriod, at.child('lifecycle'), errors)
      validateProbes(container, at, errors)
      continue
    }
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field] !== undefined) errors.push(forbidden(at.child(field), onlyForSidecars))
    }
    for (const [j, policy] of (container.resizePolicy ?? []).entries()) {
      if (policy.restartPolicy !== 'RestartContainer') continue
      errors.push(
        invalid(
          at.child('resizePolicy').index(j).child('restartPolicy'),
          policy.restartPolicy,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      )
    }
  }
}

/**
 * Fields that ephemeral containers may have and, in the order of Kubernetes' structure, fields that they may not have.
 */
const notForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const

const isSet = (value: unknown): boolean => {
  if (value === undefined || value === null) return false
  if (typeof value !== 'object') return true
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}

/** Validates the ephemeral containers, which are added to a running pod. */
export function validateEphemeralContainers(
  spec: PodSpec,
  path: Path,
  context: ContainerContext,
  errors: FieldError[],
): void {
  const others = new Set(
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.name),
  )
  const names = new Set(others)
  for (const [i, container] of spec.ephemeralContainers!.entries()) {
    const at = path.index(i)
    validateCommon(container, at, context, errors)
    validateImageIsTrimmed(container, at, errors)
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name))
    names.add(container.name)
    if (container.targetContainerName && !others.has(container.targetContainerName)) {
      errors.push(notFoundField(at.child('targetContainerName'), container.targetContainerName))
    }
    for (const field of notForEphemeral) {
      if (isSet(container[field])) errors.push(forbidden(at.child(field), 'cannot be set for an Ephemeral Container'))
    }
    for (const [j, mount] of (container.volumeMounts ?? []).entries()) {
      for (const field of ['subPath', 'subPathExpr'] as const) {
        if (mount[field]) {
          errors.push(
            forbidden(at.child('volumeMounts').index(j).child(field), 'cannot be set for an Ephemeral Container'),
          )
        }
      }
    }
  }
}

function validateImageIsTrimmed(container: AnyContainer, path: Path, errors: FieldError[]): void {
  const image = container.image ?? ''
  if (image !== image.trim())
    errors.push(invalid(path.child('image'), image, 'must not have leading or trailing whitespace'))
}

/** Rejects leading and trailing white space in a pod's images. Templates may have it. */
export function validateImagesAreTrimmed(
  containers: readonly Container[] | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (!containers) return
  for (let i = 0; i < containers.length; i++) validateImageIsTrimmed(containers[i]!, path.index(i), errors)
}
