import type { Container, Pod, PodAffinityTerm, PodSpec, ScopedResourceSelectorRequirement } from '../generated/types.ts'
import { secondsInMs } from '../numbers/int64.ts'
import { podLimits, podRequests } from '../kinds/pods/pod-resources.ts'
import { qosClassOf } from '../kinds/pods/qos.ts'
import {
  type ResourceList,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  isPodLevelResource,
} from '../kinds/quantities/resource-names.ts'
import { type QuotaEvaluator, countName, selectsValue } from './evaluator.ts'
import { isPodFinished } from '../kinds/pods/pod-availability.ts'

const podCount = countName('', 'pods')
const deviceClasses = 'deviceclass.resource.kubernetes.io/'
const computeNames = ['cpu', 'memory', 'ephemeral-storage']
const names = new Set([
  podCount,
  'pods',
  ...computeNames,
  ...computeNames.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
])

/**
 * Resources that containers must set if a quota limits them. Kubernetes considers the requirement a mistake and added
 * no others.
 */
const mandatory = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

const isExtendedName = (name: string) =>
  name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${deviceClasses}`))

function computeUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage: ResourceList = { pods: '1' }
  for (const name in requests) {
    const isPlain = computeNames.includes(name) || isHugePages(name)
    if (isPlain) usage[name] = requests[name]!
    if (isPlain || isExtendedResource(name) || name.startsWith(deviceClasses))
      usage[`requests.${name}`] = requests[name]!
  }
  for (const name of computeNames) if (limits[name] !== undefined) usage[`limits.${name}`] = limits[name]
  return usage
}

/** The time at which a terminating pod no longer counts, although it still exists: its node may be lost. */
export function uncountedAtMs({ metadata }: Pod): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return undefined
  return Date.parse(deletionTimestamp) + secondsInMs(deletionGracePeriodSeconds)
}

/** True if a pod has ended, so only its object counts. */
const hasEnded = (pod: Pod, nowMs: number): boolean => isPodFinished(pod) || nowMs > (uncountedAtMs(pod) ?? Infinity)

/** The allocated resources of the containers, which may exceed their current requests. */
const heldText = ({ status }: Pod): string =>
  [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    .map(({ resources, allocatedResources }) =>
      resources || allocatedResources ? JSON.stringify([resources, allocatedResources]) : '',
    )
    .join()

const isTerminating = ({ spec }: Pod): boolean =>
  spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0

const looksAcross = ({ namespaces, namespaceSelector }: PodAffinityTerm): boolean =>
  Boolean(namespaces?.length) || namespaceSelector !== undefined

function hasAffinityAcrossNamespaces({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (terms) =>
      terms?.requiredDuringSchedulingIgnoredDuringExecution?.some(looksAcross) ||
      terms?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) =>
        looksAcross(podAffinityTerm),
      ),
  )
}

function matchesScope(scope: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort'
    case 'PriorityClass':
      return selectsValue(scope, pod.spec.priorityClassName || undefined)
    case 'CrossNamespacePodAffinity':
      return hasAffinityAcrossNamespaces(pod.spec)
    default:
      return false
  }
}

const hasPodLevelResources = ({ resources }: PodSpec): boolean =>
  Object.keys({ ...resources?.requests, ...resources?.limits }).some(isPodLevelResource)

const saidBy = ({ resources }: Container): ResourceList =>
  computeUsage(resources?.requests ?? {}, resources?.limits ?? {})

function unsaid(required: readonly string[], { spec }: Pod): string | undefined {
  if (hasPodLevelResources(spec)) return undefined
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => ({
    name: container.name,
    said: saidBy(container),
  }))
  const problems = required
    .filter((name) => mandatory.has(name))
    .sort()
    .flatMap((name) => {
      const silent = containers.filter(({ said }) => said[name] === undefined).map((container) => container.name)
      return silent.length ? [`${name} for: ${[...new Set(silent)].sort().join(',')}`] : []
    })
  return problems.length ? `must specify ${problems.join('; ')}` : undefined
}

/** The quota of pods: their number and requests until they have ended. */
export const podEvaluator: QuotaEvaluator<Pod> = {
  uses: (name) =>
    names.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedName(name),
  usage(pod, nowMs) {
    const counted = { [podCount]: '1' }
    return hasEnded(pod, nowMs) ? counted : { ...counted, ...computeUsage(podRequests(pod), podLimits(pod)) }
  },
  matchesScope,
  mayDiffer(before, after) {
    const [old, now] = [before.metadata, after.metadata]
    if (old.uid !== now.uid || old.generation !== now.generation || old.deletionTimestamp !== now.deletionTimestamp)
      return true
    return isPodFinished(before) !== isPodFinished(after) || heldText(before) !== heldText(after)
  },
  concerns({ operation, subresource, object, old }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    return operation === 'CREATE' || (old !== undefined && isTerminating(object) !== isTerminating(old))
  },
  unsaid,
}
