import { podsThatMatter } from '../../api/explain/index.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import type { ControllerRevision, LabelSelector, Pod, PodTemplateSpec, ReplicaSet } from '../../api/generated/types.ts'
import { compareInt64 } from '../../api/numbers/int64.ts'
import { controllerOf, controllerrevisions, isControlledBy, jobs, pods, replicasets } from '../../client/index.ts'
import { type WorkloadKind, kindNamed, selectorOf } from './kinds.ts'
import type { Workload } from './object.ts'
import type { Reader } from './reader.ts'

/** The source of a workload's pods and revisions: requests, or caches that a watch keeps current. */
export interface Source {
  pods(namespace: string, selector: LabelSelector): Promise<Pod[] | undefined>
  replicaSets(namespace: string, selector: LabelSelector): Promise<ReplicaSet[] | undefined>
}

/** Asks the server each time. */
export const askingSource = (reader: Reader): Source => ({
  pods: (namespace, selector) => reader.selected(pods, namespace, selector),
  replicaSets: (namespace, selector) => reader.selected(replicasets, namespace, selector),
})

/** The pods of a workload. */
export interface OwnPods {
  pods: Pod[]
  isUpdated: ((pod: Pod) => boolean) | undefined
  /** The object that creates the pods, if it is not the workload itself. */
  maker?: ReplicaSet | undefined
}

/** Finds the pods of a workload. Undefined if they cannot be read. */
export async function ownPods(
  reader: Reader,
  source: Source,
  kind: WorkloadKind,
  object: Workload,
): Promise<OwnPods | undefined> {
  if (kind.kind === 'CronJob') return podsOfActiveJobs(reader, source, object)
  const { namespace = '' } = object.metadata
  const selector = selectorOf(kind, object)
  if (!selector) return { pods: [], isUpdated: undefined }
  const found = await source.pods(namespace, selector)
  if (!found) return undefined
  if (kind.kind === 'Deployment') {
    const sets = await source.replicaSets(namespace, selector)
    if (!sets) return undefined
    const own = sets.filter((set) => isControlledBy(set, object))
    const newest = newestSet(object, own)
    const uids = new Set(own.map((set) => set.metadata.uid))
    return {
      pods: found.filter((pod) => uids.has(controllerOf(pod)?.uid)),
      isUpdated: (pod) => controllerOf(pod)?.uid === newest?.metadata.uid,
      maker: newest,
    }
  }
  const own = found.filter((pod) => isControlledBy(pod, object))
  if (kind.kind === 'Job') return { pods: own, isUpdated: undefined }
  return { pods: own, isUpdated: await revisionTest(reader, kind, object, selector) }
}

async function podsOfActiveJobs(
  reader: Reader,
  source: Source,
  { metadata, status }: Workload,
): Promise<OwnPods | undefined> {
  const names = Array.isArray(status?.active) ? status.active.flatMap((ref: { name?: string }) => ref.name ?? []) : []
  const found = await reader.findAll(jobs, metadata.namespace ?? '', names)
  if (!found) return undefined
  const all: Pod[] = []
  for (const job of found.values()) {
    if (!job) continue
    const own = (await ownPods(reader, source, kindNamed('Job'), job as Workload))?.pods ?? []
    for (const pod of podsThatMatter(own, false)) all.push(pod)
  }
  return { pods: all, isUpdated: undefined }
}

const templateHash = 'pod-template-hash'
const revisionHash = 'controller-revision-hash'

/** The template without the label that its ReplicaSet has added. */
export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [templateHash]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** The ReplicaSet of the Deployment's current template, the oldest of several, as its controller decides. */
function newestSet(deployment: Workload, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const { template } = deployment.spec ?? {}
  const same = template
    ? sets.filter((set) => semanticEqual(withoutHash(set.spec.template), withoutHash(template)))
    : []
  return same.toSorted((a, b) =>
    (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1,
  )[0]
}

async function revisionTest(
  reader: Reader,
  kind: WorkloadKind,
  object: Workload,
  selector: LabelSelector,
): Promise<((pod: Pod) => boolean) | undefined> {
  if (kind.kind === 'DaemonSet') {
    const found = await reader.selected(controllerrevisions, object.metadata.namespace ?? '', selector)
    const newest = newestRevision((found ?? []).filter((revision) => isControlledBy(revision, object)))
    const hash = newest?.metadata.labels?.[revisionHash]
    return hash === undefined ? undefined : (pod) => pod.metadata.labels?.[revisionHash] === hash
  }
  const { updateRevision } = object.status ?? {}
  if (updateRevision === undefined) return undefined
  // A label value has at most 63 characters. A longer name is identified by its hash.
  const names = [updateRevision, updateRevision.slice(updateRevision.lastIndexOf('-') + 1)]
  return (pod) => names.includes(pod.metadata.labels?.[revisionHash] ?? '')
}

const newestRevision = (revisions: readonly ControllerRevision[]): ControllerRevision | undefined =>
  revisions.toSorted((a, b) => compareInt64(b.revision, a.revision))[0]
