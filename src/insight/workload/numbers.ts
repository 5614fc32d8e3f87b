import { wantedActive } from '../../api/explain/index.ts'
import type { Numbers, Workload } from './object.ts'

const replicasOf = ({ spec }: Workload): number => spec?.replicas ?? 1

/** Kinds whose status has these numbers under the same names. */
export function replicaNumbers(object: Workload): Numbers {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = object.status ?? {}
  return {
    desired: replicasOf(object),
    current: replicas,
    updated: updatedReplicas,
    ready: readyReplicas,
    available: availableReplicas,
  }
}

export function numbersWithoutRevisions(object: Workload): Numbers {
  const { updated: _, ...numbers } = replicaNumbers(object)
  return numbers
}

/** The partition of a StatefulSet or CloneSet as a number of pods. A percentage is rounded up. */
function partitionOf(object: Workload): number {
  const { updateStrategy } = object.spec ?? {}
  const partition = updateStrategy?.partition ?? updateStrategy?.rollingUpdate?.partition ?? 0
  if (typeof partition === 'number') return partition
  const percent = /^(\d+)%$/.exec(partition)
  return percent ? Math.ceil((Number(percent[1]) * replicasOf(object)) / 100) : Number(partition) || 0
}

/** OpenKruise and older Kubernetes do not write the expected number, which is computed from the spec. */
export function numbersWithPartition(object: Workload): Numbers {
  const numbers = replicaNumbers(object)
  const { expectedUpdatedReplicas, updateRevision, currentRevision } = object.status ?? {}
  const isOneRevision = updateRevision === currentRevision
  const bySpec = isOneRevision ? numbers.desired : Math.max(0, numbers.desired - partitionOf(object))
  return { ...numbers, expectedUpdated: expectedUpdatedReplicas ?? bySpec }
}

export function daemonNumbers({ status = {} }: Workload): Numbers {
  return {
    desired: status.desiredNumberScheduled ?? 0,
    current: status.currentNumberScheduled ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    ready: status.numberReady ?? 0,
    available: status.numberAvailable ?? 0,
    elsewhere: status.numberMisscheduled ?? 0,
  }
}

/** A Job needs pods until its completions are reached. One without completions ends with its first success. */
export function jobNumbers(object: Workload): Numbers {
  const { spec = {}, status = {} } = object
  const { active = 0, ready = 0, succeeded = 0 } = status
  return {
    desired: wantedActive(object),
    current: Number(active),
    ready,
    available: ready,
    succeeded,
    completions: spec.completions ?? 1,
  }
}

const activeJobs = ({ status = {} }: Workload): number => (Array.isArray(status.active) ? status.active.length : 0)

export function cronNumbers(object: Workload): Numbers {
  const active = activeJobs(object)
  return { desired: active, current: active, ready: active, available: active }
}
