import { byName } from '../../api/explain/index.ts'
import type { PodTemplateSpec } from '../../api/generated/types.ts'
import { type Int64, compareInt64, parseInt64 } from '../../api/numbers/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { type Client, type ResourceType, controllerrevisions, isControlledBy, replicasets } from '../../client/index.ts'
import { CommandError } from '../failure.ts'
import { withoutHash } from './own-pods.ts'
import { type WorkloadKind, quotedName, selectorOf } from './kinds.ts'
import type { Workload } from './object.ts'

/** One revision of a workload's template. */
export interface Revision {
  number: Int64
  /** The name of the ReplicaSet or ControllerRevision that stores it. */
  name: string
  createdAt: string | undefined
  changeCause: string | undefined
  template: PodTemplateSpec
  annotations: Readonly<Record<string, string>>
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const changeCauseAnnotation = 'kubernetes.io/change-cause'

/** Kinds whose earlier templates are stored. */
const kindsWithHistory: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet']

/** The revisions of a workload, the oldest first. */
export async function revisionsOf(client: Client, kind: WorkloadKind, object: Workload): Promise<Revision[]> {
  if (!kindsWithHistory.includes(kind.kind)) {
    throw new CommandError(
      `${quotedName(kind, object.metadata.name ?? '')}: a ${kind.kind} has no history; ` +
        'deployments, statefulsets, daemonsets and clonesets have one',
    )
  }
  const found =
    kind.kind === 'Deployment'
      ? await replicaSetRevisions(client, kind, object)
      : await controllerRevisions(client, kind, object)
  return found.toSorted((a, b) => compareInt64(a.number, b.number) || byName(a.name, b.name))
}

async function ownedBy<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  kind: WorkloadKind,
  object: Workload,
): Promise<T[]> {
  const own: T[] = []
  const labelSelector = labelSelectorText(selectorOf(kind, object))
  for await (const { items } of client.listAll(type, object.metadata.namespace ?? '', { labelSelector }))
    own.push(...items.filter((item) => isControlledBy(item, object)))
  return own
}

async function replicaSetRevisions(client: Client, kind: WorkloadKind, object: Workload): Promise<Revision[]> {
  const sets = await ownedBy(client, replicasets, kind, object)
  return sets.flatMap(({ metadata, spec }): Revision[] => {
    const number = parseInt64(metadata.annotations?.[revisionAnnotation] ?? '')
    return number === undefined ? [] : [revision(metadata, number, withoutHash(spec.template))]
  })
}

async function controllerRevisions(client: Client, kind: WorkloadKind, object: Workload): Promise<Revision[]> {
  const kept = await ownedBy(client, controllerrevisions, kind, object)
  return kept.flatMap(({ metadata, revision: number, data }): Revision[] => {
    const template = (data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } } | undefined)?.spec
      ?.template
    if (!template) return []
    const { $patch: _, ...rest } = template
    return [revision(metadata, number, rest)]
  })
}

const revision = (
  { name = '', creationTimestamp, annotations = {} }: KubeObject['metadata'],
  number: Int64,
  template: PodTemplateSpec,
): Revision => ({
  number,
  name,
  createdAt: creationTimestamp ?? undefined,
  changeCause: annotations[changeCauseAnnotation],
  template,
  annotations,
})
