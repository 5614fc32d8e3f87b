import type { Container, ContainerStatus, Pod, PodStatus, ResourceStatus } from '../../generated/types.ts'
import { nonnegativeMessage, validateImmutableField } from '../../validation/field-checks.ts'
import { type FieldError, duplicate, forbidden, invalid, notSupported } from '../../validation/field-error.ts'
import { ipFamilyOf, validateIp } from '../../validation/ip.ts'
import { isDns1123Subdomain, isQualifiedName } from '../../validation/names.ts'
import { Path } from '../../validation/path.ts'
import { shouldRestart } from '../containers/container-restart.ts'
import { metaPath } from './pod.ts'
import { validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { isRestartableInitContainer } from './pod-level-resources.ts'
import { qosClassOf } from './qos.ts'
import { validateId } from '../containers/security-context.ts'

const statusPath = Path.of('status')
const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])
const healths = ['Healthy', 'Unhealthy', 'Unknown']

/** Restores the fields that the status subresource must not change: the spec, the owners, the QoS class. */
export function prepareStatusUpdate(pod: Pod, old: Pod): void {
  pod.spec = old.spec
  pod.metadata.ownerReferences = old.metadata.ownerReferences
  const { status = {} } = pod
  const qosClass = status.qosClass || qosClassOf(old)
  const observedGeneration = status.observedGeneration ?? old.status?.observedGeneration
  // A patch that does not change the status shares it with the stored object, which must not be modified.
  if (pod.status && status.qosClass === qosClass && status.observedGeneration === observedGeneration) return
  pod.status = { ...status, qosClass, ...(observedGeneration === undefined ? {} : { observedGeneration }) }
}

type Statuses = readonly ContainerStatus[] | undefined

/** A terminated container that is not restarted stays terminated. `mayRestart` decides whether it is. */
function validateTransitions(
  statuses: Statuses,
  old: Statuses,
  field: string,
  mayRestart: (was: ContainerStatus, exitCode: number) => boolean,
  errors: FieldError[],
): void {
  for (const [i, was] of (old ?? []).entries()) {
    const ended = was.state?.terminated
    if (!ended || mayRestart(was, ended.exitCode)) continue
    for (const status of statuses ?? []) {
      if (status.name !== was.name || status.state?.terminated) continue
      errors.push(
        forbidden(statusPath.child(field).index(i).child('state'), 'may not be transitioned to non-terminated state'),
      )
    }
  }
}

function validateAllTransitions(status: PodStatus, was: PodStatus, pod: Pod, errors: FieldError[]): void {
  const { containers = [], initContainers = [], restartPolicy } = pod.spec
  const everyContainer = [...(containers ?? []), ...initContainers]
  const restartsAll = everyContainer.some((c) =>
    c.restartPolicyRules?.some((rule) => rule.action === 'RestartAllContainers'),
  )
  const find = (list: readonly Container[], name: string) => list.find((container) => container.name === name)
  const regular = (s: ContainerStatus, exitCode: number) =>
    restartsAll || shouldRestart(find(containers ?? [], s.name), restartPolicy, exitCode)
  const init = (s: ContainerStatus, exitCode: number) => {
    const container = find(initContainers, s.name)
    return (
      restartsAll ||
      (container !== undefined && isRestartableInitContainer(container)) ||
      shouldRestart(container, restartPolicy, exitCode)
    )
  }
  validateTransitions(status.containerStatuses, was.containerStatuses, 'containerStatuses', regular, errors)
  validateTransitions(status.initContainerStatuses, was.initContainerStatuses, 'initContainerStatuses', init, errors)
  validateTransitions(
    status.ephemeralContainerStatuses,
    was.ephemeralContainerStatuses,
    'ephemeralContainerStatuses',
    () => false,
    errors,
  )
}

/** At most one address of each family, without duplicates. */
function validateAddresses(addresses: readonly { ip: string }[], path: Path, errors: FieldError[]): void {
  for (const [i, { ip }] of addresses.entries()) errors.push(...validateIp(ip ?? '', path.index(i)))
  if (addresses.length < 2) return
  const families = addresses.map(({ ip }) => ipFamilyOf(ip))
  const internal = addresses.map(({ ip }) => ({ IP: ip }))
  if (addresses.length > 2 || families[0] === families[1]) {
    errors.push(invalid(path, internal, 'may specify no more than one IP for each IP family'))
  }
  const seen = new Set<string>()
  for (const [i, { ip }] of addresses.entries()) {
    if (seen.has(ip)) errors.push(duplicate(path.index(i), internal[i]))
    seen.add(ip)
  }
}

function validateHostAddresses(status: PodStatus, errors: FieldError[]): void {
  const addresses = status.hostIPs
  if (!addresses?.length) return
  const path = statusPath.child('hostIPs')
  if ((status.hostIP ?? '') !== addresses[0]!.ip) {
    errors.push(invalid(path.index(0).child('ip'), addresses[0]!.ip, 'must be equal to `hostIP`'))
  }
  validateAddresses(addresses, path, errors)
}

function validateAllocated(
  allocated: ResourceStatus,
  container: Container | undefined,
  path: Path,
  errors: FieldError[],
): void {
  const { name } = allocated
  if (container && name.startsWith('claim:')) {
    const isClaimed = container.resources?.claims?.some(
      (claim) => name === `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`,
    )
    const message =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    if (!isClaimed) errors.push(invalid(path.child('name'), name, message))
  } else if (container && container.resources?.requests?.[name] === undefined) {
    errors.push(invalid(path.child('name'), name, "must match one of the container's resource requests"))
  }
  const seen = new Set<string>()
  for (const [i, { resourceID, health }] of (allocated.resources ?? []).entries()) {
    const at = path.child('resources').index(i)
    if (!healths.includes(health ?? '')) errors.push(notSupported(at.child('health'), health ?? '', healths))
    if (seen.has(resourceID)) errors.push(duplicate(at.child('resourceID'), resourceID))
    seen.add(resourceID)
  }
}

function validateContainerStatuses(
  statuses: Statuses,
  field: string,
  containers: readonly Container[] | undefined,
  isWindows: boolean,
  errors: FieldError[],
): void {
  for (const [i, status] of (statuses ?? []).entries()) {
    const path = statusPath.child(field).index(i)
    const linux = status.user?.linux
    if (linux && isWindows) errors.push(forbidden(path.child('user', 'linux'), 'cannot be set for a windows pod'))
    else if (linux) {
      validateId(linux.uid, () => path.child('user', 'linux', 'uid'), errors)
      validateId(linux.gid, () => path.child('user', 'linux', 'gid'), errors)
      for (const [g, id] of (linux.supplementalGroups ?? []).entries()) {
        validateId(id, () => path.child('user', 'linux', 'supplementalGroups').index(g), errors)
      }
    }
    const allocated = status.allocatedResourcesStatus
    if (!allocated?.length) continue
    if (!containers) {
      errors.push(forbidden(path.child('allocatedResourcesStatus'), 'must not be specified in container status'))
      continue
    }
    const container = containers.find((c) => c.name === status.name)
    for (const [j, entry] of allocated.entries()) {
      validateAllocated(entry, container, path.child('allocatedResourcesStatus').index(j), errors)
    }
  }
}

function validateClaimStatuses(pod: Pod, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, { name, resourceClaimName }] of (pod.status?.resourceClaimStatuses ?? []).entries()) {
    const at = statusPath.child('resourceClaimStatuses').index(i).child('name')
    if (!pod.spec.resourceClaims?.some((claim) => claim.name === name)) {
      errors.push(invalid(at, name, 'must match the name of an entry in `spec.resourceClaims`'))
    }
    if (seen.has(name)) errors.push(duplicate(at, name))
    seen.add(name)
    if (resourceClaimName) {
      for (const problem of isDns1123Subdomain(resourceClaimName)) errors.push(invalid(at, resourceClaimName, problem))
    }
  }
}

function validateConditions(status: PodStatus, errors: FieldError[]): void {
  for (const [i, { type, observedGeneration }] of (status.conditions ?? []).entries()) {
    const at = statusPath.child('conditions').index(i)
    if ((observedGeneration ?? 0) < 0)
      errors.push(invalid(at.child('observedGeneration'), observedGeneration, nonnegativeMessage))
    if (systemConditions.has(type)) continue
    for (const problem of isQualifiedName(type ?? '')) errors.push(invalid(at.child('Type'), type ?? '', problem))
  }
}

function validateNominated(pod: Pod, was: PodStatus, errors: FieldError[]): void {
  const name = pod.status?.nominatedNodeName
  if (!name || name === was.nominatedNodeName) return
  const path = statusPath.child('nominatedNodeName')
  if (pod.spec.nodeName) errors.push(forbidden(path, 'may not be set on pods that are already bound to a node'))
  for (const problem of isDns1123Subdomain(name)) errors.push(invalid(path, name, problem))
}

/** Validates the status of a pod. */
export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  const [status, was] = [pod.status ?? {}, old.status ?? {}]
  const spec = pod.spec
  validatePodAnnotationsUpdate(pod.metadata, old.metadata, pod.spec, metaPath.child('annotations'), errors)
  validateConditions(status, errors)
  if ((status.observedGeneration ?? 0) < 0) {
    errors.push(invalid(statusPath.child('observedGeneration'), status.observedGeneration, nonnegativeMessage))
  }
  validateNominated(pod, was, errors)
  if (was.qosClass) errors.push(...validateImmutableField(status.qosClass, was.qosClass, statusPath.child('qosClass')))
  validateAllTransitions(status, was, old, errors)
  validateClaimStatuses(pod, errors)
  validateAddresses(status.podIPs ?? [], statusPath.child('podIPs'), errors)
  validateHostAddresses(status, errors)
  const isWindows = spec.os?.name === 'windows'
  validateContainerStatuses(status.containerStatuses, 'containerStatuses', spec.containers ?? [], isWindows, errors)
  validateContainerStatuses(
    status.initContainerStatuses,
    'initContainerStatuses',
    spec.initContainers ?? [],
    isWindows,
    errors,
  )
  validateContainerStatuses(
    status.ephemeralContainerStatuses,
    'ephemeralContainerStatuses',
    undefined,
    isWindows,
    errors,
  )
  return errors
}
