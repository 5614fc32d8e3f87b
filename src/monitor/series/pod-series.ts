import type { Labels } from '../../base/metrics.ts'
import type { PodLabels } from '../pod-labels.ts'
import type { TrackedPod } from '../sandbox/tracker.ts'
import { statusSamples } from './condition-samples.ts'
import type { StateFamily, StateSource } from './state-series.ts'

/** A series for every pod, in the manner of kube-state-metrics. */
export function podSeries(pods: ReadonlyMap<string, TrackedPod>, labels: PodLabels): StateSource<TrackedPod> {
  return { resource: 'pods', size: () => pods.size, objects: () => pods.values(), identityOf, families: [...families, infoOf(labels)] }
}

const identityOf = ({ pod }: TrackedPod): Labels => {
  const { namespace = '', name = '', uid = '' } = pod?.metadata ?? {}
  return { namespace, pod: name, uid }
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

const elapsed = (fromMs: number | undefined, toMs: number | undefined): number | undefined =>
  fromMs === undefined || toMs === undefined ? undefined : Math.max(0, toMs - fromMs) / 1000

const families: readonly StateFamily<TrackedPod>[] = [
  { name: 'kube_pod_status_scheduled_time', help: 'Unix time at which the pod was scheduled.', of: ({ record }) => seconds(record.scheduledAtMs) },
  {
    name: 'kube_pod_status_ready_to_start_containers',
    help: 'Whether the sandbox, network and volumes of the pod are ready.',
    of: ({ pod }) => statusSamples('condition', pod?.status?.conditions?.find((c) => c.type === 'PodReadyToStartContainers')?.status ?? 'Unknown'),
  },
  {
    name: 'kube_pod_status_ready_to_start_containers_time',
    help: 'Unix time since which the sandbox, network and volumes of the pod are ready, if they are.',
    of: ({ record }) => (record.lostAtMs === undefined && record.terminatedAtMs === undefined ? seconds(record.readyAtMs) : undefined),
  },
  {
    name: 'kube_pod_status_initial_ready_to_start_containers_time',
    help: 'Unix time at which the sandbox, network and volumes of the pod were ready for the first time.',
    of: ({ record }) => seconds(record.firstReadyAtMs),
  },
  {
    name: 'kube_pod_sandbox_creation_duration_seconds',
    help: 'How long after it was scheduled the pod was ready to start containers, for the first time.',
    of: ({ record }) => elapsed(record.scheduledAtMs, record.firstReadyAtMs),
  },
  { name: 'kube_pod_sandbox_creation_failed', help: 'Whether the pod was not ready to start containers within the configured time.', of: ({ record }) => (record.failedAtMs === undefined ? 0 : 1) },
  { name: 'kube_pod_sandbox_recreations_total', help: 'How often a sandbox of the pod was made anew after it was lost.', type: 'counter', of: ({ record }) => record.recreations },
  {
    name: 'kube_pod_sandbox_termination_duration_seconds',
    help: 'How long after its deletion the pod had no sandbox any more.',
    of: ({ record }) => elapsed(record.deletedAtMs, record.terminatedAtMs),
  },
  { name: 'kube_pod_sandbox_user_error', help: 'Whether the pod lacks, or lacked, a config map or secret.', of: ({ record }) => (record.userErrorAtMs === undefined ? 0 : 1) },
]

const infoOf = (labels: PodLabels): StateFamily<TrackedPod> => ({
  name: 'kube_pod_sandbox_info',
  help: 'What the sandbox of the pod is made of, and the chosen labels and annotations of the pod.',
  of({ pod }) {
    if (!pod) return undefined
    const { namespace: _, ...rest } = labels.of(pod)
    return [[rest, 1]]
  },
})
