import type { Node, Pod } from '../../api/generated/types.ts'
import { type Cause, type CauseKind, type Surroundings, causeOfPod, refusalOf } from '../../api/explain/index.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import { summarizePod } from '../../api/kinds/pods/pod-summary.ts'
import { millisecondsOf } from '../../api/object.ts'
import { controllerOf } from '../../client/index.ts'
import { isInTheWay } from '../../insight/workload/explained.ts'
import type { Workload } from '../../insight/workload/object.ts'
import type { Row } from '../../insight/workload/row.ts'
import { states } from '../../insight/workload/said.ts'
import { cellStates } from '../stream/columns.ts'
import type { Value } from '../stream/table.ts'

const seconds = (time: string | number | null | undefined): number => {
  const ms = typeof time === 'number' ? time : millisecondsOf(time ?? undefined)
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000)
}

const labelsText = (labels: Readonly<Record<string, string>> = {}): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',')

/** Kinds besides pods whose objects a cause describes. */
const describedKinds: Partial<Record<CauseKind, readonly string[]>> = {
  NodeGone: ['Node'],
  NodeLost: ['Node'],
  NodeNotReady: ['Node'],
  ClaimMissing: ['PersistentVolumeClaim'],
  ClaimPending: ['PersistentVolumeClaim'],
  ClaimLost: ['PersistentVolumeClaim'],
  DisruptionBudget: ['PodDisruptionBudget', 'Node'],
}

/** Returns the kinds of the objects from which a cause of a workload was determined. */
export function kindsIn({ what, object }: Cause, workload: Workload): readonly string[] {
  // A refusal that no condition names was found in an event.
  if (what === 'CreateRefused' && !refusalOf(workload.status?.conditions)) return ['Event']
  return [...(object.kind === 'Pod' ? ['Pod'] : []), ...(describedKinds[what] ?? [])]
}

/** Returns the columns of a workload for viewers who may list these kinds in its namespace. */
export function workloadValues(
  { kind, object, state, reason, message, since, deadlineAtMs, numbers, causes }: Row,
  mayList: (kind: string) => boolean,
): Value[] {
  const isTold = (cause: Cause) => mayList('Pod') && kindsIn(cause, object).every(mayList)
  const cause = causes.find((one) => isInTheWay(one) && isTold(one))
  const isReasonTold = causes.every((one) => one.what !== reason || isTold(one))
  const { namespace = '', name = '', labels } = object.metadata
  const { desired, current, updated = -1, ready, available } = numbers
  const sentence = cause
    ? `${cause.object.kind} ${cause.object.name} ${cause.text}`
    : state === 'Available'
      ? ''
      : message
  const isPaused = object.spec?.paused || object.spec?.updateStrategy?.paused || object.spec?.suspend
  return [
    kind.kind,
    namespace,
    name,
    states.indexOf(state),
    isReasonTold ? reason : '',
    sentence,
    cause?.object.kind === 'Pod' ? cause.object.name : '',
    seconds(cause?.since ?? since),
    seconds(deadlineAtMs ?? 0),
    desired,
    current,
    updated,
    ready,
    available,
    labelsText(labels),
    isPaused ? 1 : 0,
  ]
}

/** 0: the newest revision; 1: an older one. */
export type CellAge = 0 | 1

/** Returns the columns of a pod, and the time at which its state changes without any event. */
export function podValues(
  pod: Pod,
  age: CellAge,
  around: Surroundings,
): { values: Value[]; changesAtMs: number | undefined } {
  const cause = causeOfPod(pod, around)
  const { name = '', labels } = pod.metadata
  const cut = name.lastIndexOf('-') + 1
  const revision =
    labels?.['pod-template-hash'] ?? labels?.['controller-revision-hash'] ?? controllerOf(pod)?.name ?? ''
  const restarts = pod.status?.containerStatuses?.some(({ restartCount }) => restartCount > 0)
    ? summarizePod(pod).restarts
    : 0
  const values = [
    name.slice(0, cut),
    name.slice(cut),
    revision,
    age,
    cellStates.indexOf(cellState(pod, cause)),
    pod.spec?.nodeName ?? '',
    restarts,
  ]
  return { values, changesAtMs: cause?.changesAtMs }
}

function cellState(pod: Pod, cause: Cause | undefined): (typeof cellStates)[number] {
  if (!cause) return isPodFinished(pod) ? 'finished' : 'available'
  if (pod.metadata.deletionTimestamp) return cause.weight === 'trouble' ? 'trouble' : 'ending'
  return cause.weight === 'trouble' ? 'trouble' : cause.weight === 'starting' ? 'starting' : 'waiting'
}

const pressures: readonly string[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

/** Returns the columns of a node. The number of pods is -1 if it is unknown, or not told to these viewers. */
export function nodeValues({ metadata, spec, status }: Node, pods: number): Value[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const pressed = (status?.conditions ?? []).filter(({ type, status: is }) => pressures.includes(type) && is === 'True')
  const { cpu = '', memory = '', pods: capacity = '0' } = status?.allocatable ?? {}
  return [
    metadata.name ?? '',
    ready?.status ?? 'Unknown',
    spec?.unschedulable ? 1 : 0,
    pressed.map(({ type }) => type).join(' '),
    pods,
    Number(capacity) || 0,
    String(cpu),
    String(memory),
    status?.nodeInfo?.kubeletVersion ?? '',
    seconds(ready?.lastTransitionTime),
  ]
}
