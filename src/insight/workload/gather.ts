import { type Refusal, refusalOf } from '../../api/explain/index.ts'
import type { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import { isPodFinished, isPodReady } from '../../api/kinds/pods/pod-availability.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import { compileLabelSelector, nodes, persistentvolumeclaims, poddisruptionbudgets } from '../../client/index.ts'
import type { WorkloadKind } from './kinds.ts'
import type { Workload } from './object.ts'
import { type Source, ownPods } from './own-pods.ts'
import type { Reader } from './reader.ts'
import { refusalInEvents } from './refusal.ts'

/** The objects that explain a workload. A member that is undefined could not be read. */
export interface Surroundings {
  pods: Pod[] | undefined
  /** Reports whether a pod is of the newest revision. Undefined for kinds without revisions. */
  isUpdated: ((pod: Pod) => boolean) | undefined
  /** By name: the nodes of pods that are not ready, and of all pods if a disruption budget blocks evictions. */
  nodes: ReadonlyMap<string, Node | null> | undefined
  /** Claims of pods that have not started, by name. */
  claims: ReadonlyMap<string, PersistentVolumeClaim | null> | undefined
  /** Budgets that allow none of the pods to be evicted. */
  budgets: PodDisruptionBudget[]
  refusal: Refusal | undefined
}

/** Reads what explains a workload, and no more. */
export async function gather(
  reader: Reader,
  source: Source,
  kind: WorkloadKind,
  object: Workload,
): Promise<Surroundings> {
  const own = await ownPods(reader, source, kind, object)
  if (own) own.pods = withoutHistory(own.pods, kind, object)
  const late = (own?.pods ?? []).filter(
    (pod) => (!isPodReady(pod) && !isPodFinished(pod)) || pod.metadata.deletionTimestamp,
  )
  const namespace = object.metadata.namespace ?? ''
  const budgets = await budgetsInTheWay(reader, namespace, own?.pods ?? [])
  const nodeNames = (budgets.length > 0 ? own!.pods : late).flatMap((pod) => pod.spec?.nodeName ?? [])
  const claimNames = late.filter((pod) => pod.status?.phase !== 'Running').flatMap(claimNamesOf)
  return {
    pods: own?.pods,
    isUpdated: own?.isUpdated,
    nodes: await reader.findAll(nodes, '', unique(nodeNames)),
    claims: await reader.findAll(persistentvolumeclaims, namespace, unique(claimNames)),
    budgets,
    refusal: refusalOf(object.status?.conditions) ?? (await refusalInEvents(reader, kind, object, own)),
  }
}

/** Evicted and failed pods stay for a while. If enough pods are available, they explain nothing. */
function withoutHistory(own: Pod[], kind: WorkloadKind, object: Workload): Pod[] {
  const { available, desired } = kind.numbersOf(object)
  if (kind.kind === 'Job' || kind.kind === 'CronJob' || available < desired) return own
  return own.filter((pod) => !isPodFinished(pod) || pod.metadata.deletionTimestamp)
}

const unique = (names: readonly string[]): string[] => [...new Set(names)]

/** The budgets that select one of these pods and allow no disruption now. */
async function budgetsInTheWay(reader: Reader, namespace: string, own: readonly Pod[]): Promise<PodDisruptionBudget[]> {
  if (own.length === 0) return []
  const budgets = (await reader.list(poddisruptionbudgets, namespace)) ?? []
  return budgets.filter(({ spec, status }) => {
    if (!spec?.selector || !status || status.disruptionsAllowed > 0) return false
    const matches = compileLabelSelector(spec.selector)
    return own.some((pod) => matches(pod.metadata.labels))
  })
}
