import { causeOfPod } from '../../api/explain/index.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import { sandboxConditionOf } from '../../api/kinds/pods/sandbox-condition.ts'
import { labelText } from '../../base/metrics.ts'
import type { PodLabels } from '../pod-labels.ts'
import type { TrackedPod } from '../sandbox/tracker.ts'
import type { Sample, StateFamily, StateSource } from './state-series.ts'

/** A series per pod, as in kube-state-metrics. */
export function podSeries(pods: ReadonlyMap<string, TrackedPod>, labels: PodLabels): StateSource<TrackedPod> {
  const shownOf = (tracked: TrackedPod) =>
    tracked.shown?.of === tracked.pod ? tracked.shown : (tracked.shown = show(tracked, labels))
  const info: StateFamily<TrackedPod> = {
    name: 'kube_pod_sandbox_info',
    help: 'Runtime class, storage classes and volumes of the pod, and its selected labels and annotations.',
    of: (tracked) => [[shownOf(tracked).info, 1]],
  }
  return {
    resource: 'pods',
    size: () => pods.size,
    objects: () => pods.values(),
    identityOf: (tracked) => shownOf(tracked).identity,
    families: [...families, info],
  }
}

/** Texts that several series share, or that are expensive to create, kept until the pod changes. */
function show({ pod, shown }: TrackedPod, labels: PodLabels): NonNullable<TrackedPod['shown']> {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  const { namespace: _, ...rest } = labels.of(pod)
  return { of: pod, identity: shown?.identity ?? labelText({ namespace, pod: name, uid }), info: labelText(rest) }
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

const elapsed = (fromMs: number | undefined, toMs: number | undefined): number | undefined =>
  fromMs === undefined || toMs === undefined ? undefined : Math.max(0, toMs - fromMs) / 1000

// Only true states and past events have a series, because all others would be most of the output.
const conditionIs: Readonly<Record<string, readonly Sample[]>> = {
  True: [['condition="true"', 1]],
  False: [['condition="false"', 1]],
  Unknown: [['condition="unknown"', 1]],
}

const families: readonly StateFamily<TrackedPod>[] = [
  {
    name: 'kube_pod_status_scheduled_time',
    help: 'Unix time at which the pod was scheduled.',
    of: ({ record }) => seconds(record.scheduledAtMs),
  },
  {
    name: 'kube_pod_status_ready_to_start_containers',
    help: '1 if the sandbox, network and volumes of the pod are ready.',
    of: ({ pod }) => conditionIs[sandboxConditionOf(pod)?.status ?? 'Unknown'],
  },
  {
    name: 'kube_pod_status_ready_to_start_containers_time',
    help: 'Unix time at which the sandbox, network and volumes of the pod became ready, if they are.',
    // The series ends with the state, however that ended.
    of: ({ pod, record }) => (sandboxConditionOf(pod)?.status === 'True' ? seconds(record.readyAtMs) : undefined),
  },
  {
    name: 'kube_pod_sandbox_creation_duration_seconds',
    help: 'Time from scheduling until the pod was first ready to start containers.',
    of: ({ record }) => elapsed(record.scheduledAtMs, record.firstReadyAtMs),
  },
  {
    name: 'kube_pod_sandbox_creation_failed',
    help: '1 if the pod was not ready to start containers within the configured time and its user is not at fault.',
    of: ({ record }) => (record.failedAtMs === undefined || record.isUserError ? undefined : 1),
  },
  {
    name: 'kube_pod_sandbox_recreations_total',
    help: 'Number of times that the sandbox of the pod was re-created after it was lost.',
    type: 'counter',
    of: ({ record }) => record.recreations || undefined,
  },
  {
    name: 'kube_pod_sandbox_termination_duration_seconds',
    help: 'Time from the deletion of the pod until its sandbox was removed.',
    of: ({ record }) => elapsed(record.deletedAtMs, record.terminatedAtMs),
  },
  {
    name: 'coxswain_pod_unavailable',
    help: '1 for a pod that is not terminated and not available, by the cause as in conditions and `coxswain why`.',
    of: ({ pod }, nowMs) => {
      const cause = isPodFinished(pod) ? undefined : causeOfPod(pod, { nowMs })
      return cause && [[{ cause: cause.what }, 1]]
    },
  },
  {
    name: 'kube_pod_sandbox_user_error',
    help: '1 if an object that the pod references is missing, or if its user is at fault.',
    of: ({ record }) => (record.isUserError || record.absentFromMs !== undefined ? 1 : undefined),
  },
]
