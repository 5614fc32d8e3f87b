import type { PodSpec, Volume } from '../../generated/types.ts'
import { notSupportedInOrder } from '../../validation/field-checks.ts'
import { type FieldError, duplicate, invalid, required } from '../../validation/field-error.ts'
import { isDns1123Subdomain, isQualifiedName } from '../../validation/names.ts'
import { validateLabels } from '../../validation/object-meta.ts'
import type { Path } from '../../validation/path.ts'
import { validateAffinity } from '../placement/affinity.ts'
import {
  type ContainerContext,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from '../containers/containers.ts'
import { validatePodLevelResources } from './pod-level-resources.ts'
import {
  validateDns,
  validateDnsPolicy,
  validateHostAliases,
  validateHostNetworkPorts,
  validateHostUsers,
  validateHostnames,
} from './pod-network.ts'
import { validatePodOs } from './pod-os.ts'
import { claimNames, validateResourceClaims } from '../containers/resource-claims.ts'
import { validateContainerRequirements } from '../containers/resource-requirements.ts'
import { validatePodSecurityContext } from '../containers/security-context.ts'
import { validateTolerations } from '../placement/tolerations.ts'
import { validateTopologySpread } from '../placement/topology-spread.ts'
import { type VolumeContext, validateVolumes } from '../volumes/volumes.ts'
import { validateHostProcess } from '../containers/windows-options.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']
const maxDeadlineSeconds = 2 ** 31 - 1

const noVolumes: ReadonlyMap<string, Volume> = new Map()

function validateSubdomain(name: string | undefined, path: () => Path, errors: FieldError[]): void {
  if (name) for (const problem of isDns1123Subdomain(name)) errors.push(invalid(path(), name, problem))
}

function validateGates(spec: PodSpec, path: Path, errors: FieldError[]): void {
  for (const [i, gate] of (spec.readinessGates ?? []).entries()) {
    const type = gate.conditionType ?? ''
    for (const problem of isQualifiedName(type)) {
      errors.push(invalid(path.child('readinessGates').index(i).child('conditionType'), type, problem))
    }
  }
  const seen = new Set<string>()
  for (const [i, gate] of (spec.schedulingGates ?? []).entries()) {
    const at = path.child('schedulingGates').index(i)
    const name = gate.name ?? ''
    for (const problem of isQualifiedName(name)) errors.push(invalid(at, name, problem))
    if (seen.has(name)) errors.push(duplicate(at, name))
    seen.add(name)
  }
}

function validateAllContainers(spec: PodSpec, context: ContainerContext, path: Path, errors: FieldError[]): void {
  validateContainers(spec.containers ?? [], path.child('containers'), context, errors)
  if (spec.initContainers) validateInitContainers(spec, path.child('initContainers'), context, errors)
  if (spec.ephemeralContainers) validateEphemeralContainers(spec, path.child('ephemeralContainers'), context, errors)
}

function validateScheduling(spec: PodSpec, path: Path, errors: FieldError[]): void {
  if (spec.affinity) validateAffinity(spec.affinity, path.child('affinity'), errors)
  validateDns(spec, path, errors)
  if (spec.readinessGates || spec.schedulingGates) validateGates(spec, path, errors)
  if (spec.topologySpreadConstraints) {
    validateTopologySpread(spec.topologySpreadConstraints, path.child('topologySpreadConstraints'), errors)
  }
}

function validateRunTime(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const { activeDeadlineSeconds: deadline, preemptionPolicy, runtimeClassName } = spec
  validateSubdomain(spec.serviceAccountName, () => path.child('serviceAccountName'), errors)
  validateSubdomain(spec.nodeName, () => path.child('nodeName'), errors)
  if (deadline !== undefined && (deadline < 1 || deadline > maxDeadlineSeconds)) {
    errors.push(
      invalid(path.child('activeDeadlineSeconds'), deadline, `must be between 1 and ${maxDeadlineSeconds}, inclusive`),
    )
  }
  validateHostnames(spec, path, errors)
  if (spec.tolerations) validateTolerations(spec.tolerations, path.child('tolerations'), errors)
  if (spec.hostAliases) validateHostAliases(spec.hostAliases, path.child('hostAliases'), errors)
  validateSubdomain(spec.priorityClassName, () => path.child('priorityClassName'), errors)
  if (runtimeClassName !== undefined) {
    for (const problem of isDns1123Subdomain(runtimeClassName)) {
      errors.push(invalid(path.child('runtimeClassName'), runtimeClassName, problem))
    }
  }
  if (preemptionPolicy === '') errors.push(required(path.child('preemptionPolicy')))
  else if (preemptionPolicy !== undefined && !preemptionPolicies.includes(preemptionPolicy)) {
    errors.push(notSupportedInOrder(path.child('preemptionPolicy'), preemptionPolicy, preemptionPolicies))
  }
  if (spec.overhead) validateContainerRequirements({ limits: spec.overhead }, new Set(), path.child('overhead'), errors)
  if (spec.os) validatePodOs(spec, path, errors)
}

/** Validates the spec of a pod or template: each field by itself and against the others. */
export function validatePodSpec(spec: PodSpec, path: Path, around: VolumeContext, errors: FieldError[]): void {
  if (spec.terminationGracePeriodSeconds === undefined)
    errors.push(required(path.child('terminationGracePeriodSeconds')))
  const volumes = spec.volumes ? validateVolumes(spec.volumes, path.child('volumes'), around, errors) : noVolumes
  if (spec.resourceClaims) validateResourceClaims(spec.resourceClaims, path.child('resourceClaims'), errors)
  const context: ContainerContext = {
    volumes,
    claims: claimNames(spec.resourceClaims),
    gracePeriod: spec.terminationGracePeriodSeconds,
    restartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
  }
  validateAllContainers(spec, context, path, errors)
  if (spec.resources) validatePodLevelResources(spec, path.child('resources'), errors)
  if (spec.hostNetwork) validateHostNetworkPorts(spec, around.isPod, path, errors)
  if (!spec.restartPolicy) errors.push(required(path.child('restartPolicy')))
  else if (!restartPolicies.includes(spec.restartPolicy)) {
    errors.push(notSupportedInOrder(path.child('restartPolicy'), spec.restartPolicy, restartPolicies))
  }
  validateDnsPolicy(spec.dnsPolicy, path, errors)
  if (spec.nodeSelector) errors.push(...validateLabels(spec.nodeSelector, path.child('nodeSelector')))
  if (spec.securityContext)
    validatePodSecurityContext(spec.securityContext, spec, path.child('securityContext'), errors)
  validateScheduling(spec, path, errors)
  validateHostProcess(spec, path, errors)
  validateHostUsers(spec, path, errors)
  validateRunTime(spec, path, errors)
}
