import type { Clock } from '../../base/clock.ts'
import { deadlineOf } from '../../api/kinds/workloads/rollout-clock.ts'
import { controllerOf } from '../../client/index.ts'
import { type KindName, type WorkloadKind, kindNamed } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { Reader } from '../../insight/workload/reader.ts'
import { type Revision, revisionsOf } from '../../insight/workload/revisions.ts'
import { standingOf, standingWith } from '../../insight/workload/standing.ts'
import { yamlText } from '../../insight/yaml-text.ts'
import type { Caches } from '../board/caches.ts'
import type { Explanations } from '../board/explanations.ts'
import type { Viewer } from '../login/viewer.ts'
import { actionsOf } from './actions.ts'
import { conditionFact, eventFact, metadataFact, withoutValues } from './facts.ts'

/** Events of a page. */
const eventsShown = 50

/** The parameters of a page. */
export interface WorkloadQuery {
  kind: WorkloadKind
  namespace: string
  name: string
}

/** Everything about a workload except its pods, which are streamed. All reads have the viewer's credentials. */
export async function workloadPage(
  viewer: Viewer,
  caches: Caches,
  explanations: Explanations,
  clock: Clock,
  { kind, namespace, name }: WorkloadQuery,
) {
  const object = await viewer.client.get(kind.type, namespace, name)
  const reader = new Reader(viewer.client)
  const mayReadPods = await viewer.may({ verb: 'list', group: '', resource: 'pods', namespace })
  const { spec = {}, status = {} } = object
  const [{ causes, unread }, events, tree, may] = await Promise.all([
    mayReadPods ? explanations.of(viewer, kind, object) : { causes: [], unread: [] },
    reader.eventsOf(object),
    treeOf(viewer, caches, kind, object),
    rightsOf(viewer, kind, namespace, object),
  ])
  const { state, message, since, deadlineAtMs } = standingWith(standingOf(kind, object, clock.now()), causes)
  return {
    kind: kind.kind,
    singular: kind.singular,
    metadata: metadataFact(object),
    explanation: { state: state as string, message, since, deadlineAtMs, causes },
    deadlineSeconds: deadlineOf(object) ?? 0,
    conditions: (status.conditions ?? []).map(conditionFact),
    events: events.slice(0, eventsShown).map(eventFact),
    replicas: spec.replicas ?? null,
    partition: spec.updateStrategy?.partition ?? spec.updateStrategy?.rollingUpdate?.partition ?? 0,
    schedule: spec.schedule ?? '',
    tree,
    may,
    unread: [...new Set([...unread, ...reader.unread])],
  }
}

/** The actions that this viewer may do, by the API server's own answer. */
async function rightsOf(viewer: Viewer, kind: WorkloadKind, namespace: string, object: Workload) {
  const { group, plural: resource } = kind.type
  const name = object.metadata.name ?? ''
  const [scale, edit, deletePods] = await Promise.all([
    viewer.may({ verb: 'patch', group, resource, subresource: 'scale', namespace, name }),
    viewer.may({ verb: 'patch', group, resource, namespace, name }),
    viewer.may({ verb: 'delete', group: '', resource: 'pods', namespace }),
  ])
  return { actions: actionsOf(kind, object).filter((action) => (action === 'scale' ? scale : edit)), deletePods }
}

/** One object of the tree of owners. */
interface Branch {
  kind: string
  name: string
  /** The number of pods as a text. */
  note: string
  revision: string
  children: Branch[]
}

const dependents: Partial<Record<KindName, KindName>> = { Deployment: 'ReplicaSet', CronJob: 'Job' }
const dependentsShown = 20

/** The owner of a workload, the workload, and those of its dependents that the viewer may list. */
async function treeOf(viewer: Viewer, caches: Caches, kind: WorkloadKind, object: Workload): Promise<Branch> {
  const { namespace = '', uid = '' } = object.metadata
  const mayList = async (group: string, resource: string) =>
    caches.covers(namespace) && (await viewer.may({ verb: 'list', group, resource, namespace }))
  const below = dependents[kind.kind] && kindNamed(dependents[kind.kind]!)
  const mayCount = await mayList('', 'pods')
  const children =
    below && (await mayList(below.type.group, below.type.plural))
      ? caches.owned(below.kind, uid).map((child) => branchOf(caches, below, child, mayCount))
      : []
  const newest = children.toSorted((a, b) => Number(b.revision) - Number(a.revision)).slice(0, dependentsShown)
  const tree = { ...branchOf(caches, kind, object, mayCount), children: newest }
  const owner = controllerOf(object)
  return owner ? { kind: owner.kind, name: owner.name, note: '', revision: '', children: [tree] } : tree
}

function branchOf(caches: Caches, kind: WorkloadKind, object: Workload, mayCount: boolean): Branch {
  const count = mayCount ? caches.podCountOf(kind.kind, object) : undefined
  return {
    kind: kind.kind,
    name: object.metadata.name ?? '',
    note: count === undefined ? '' : `${count} ${count === 1 ? 'pod' : 'pods'}`,
    revision: object.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '',
    children: [],
  }
}

const kindsWithHistory: readonly KindName[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet']

/** The revisions of a workload with their templates as YAML, the newest first. */
export async function revisionsPage(viewer: Viewer, { kind, namespace, name }: WorkloadQuery, withValues: boolean) {
  if (!kindsWithHistory.includes(kind.kind)) return { revisions: [] }
  const object = await viewer.client.get(kind.type, namespace, name)
  const found = await revisionsOf(viewer.client, kind, object)
  const fact = async ({ number, name: keptAs, createdAt, changeCause, template }: Revision) => ({
    number: String(number),
    name: keptAs,
    createdAt: createdAt ?? '',
    changeCause: changeCause ?? '',
    images: (template.spec?.containers ?? []).map(({ image }) => image ?? ''),
    template: await yamlText(withValues ? template : withoutValues(template)),
  })
  return { revisions: (await Promise.all(found.map(fact))).reverse() }
}
