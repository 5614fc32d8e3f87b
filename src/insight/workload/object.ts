import type { CloneSetLifecycle, LabelSelector, PodTemplateSpec } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import type { WorkloadCondition } from '../../api/kinds/workloads/rollout-clock.ts'

export type { WorkloadCondition as Condition }

/** The fields of all kinds of workloads that commands read. Each kind has some of them. */
export interface Workload extends KubeObject {
  spec?: {
    replicas?: number
    /** A ReplicationController has a map of labels. A Job has no selector until its controller sets one. */
    selector?: LabelSelector | Record<string, string>
    template?: PodTemplateSpec
    paused?: boolean
    suspend?: boolean
    minReadySeconds?: number
    progressDeadlineSeconds?: number
    podManagementPolicy?: string
    updateStrategy?: {
      type?: string
      paused?: boolean
      partition?: number | string
      rollingUpdate?: { partition?: number }
    }
    /** CloneSets only. */
    lifecycle?: CloneSetLifecycle
    completions?: number
    parallelism?: number
    backoffLimitPerIndex?: number
    schedule?: string
    timeZone?: string
  }
  status?: {
    observedGeneration?: Int64
    conditions?: readonly WorkloadCondition[] | null
    replicas?: number
    updatedReplicas?: number
    readyReplicas?: number
    availableReplicas?: number
    expectedUpdatedReplicas?: number
    currentRevision?: string
    updateRevision?: string
    desiredNumberScheduled?: number
    currentNumberScheduled?: number
    updatedNumberScheduled?: number
    numberReady?: number
    numberAvailable?: number
    numberMisscheduled?: number
    active?: number | readonly { name?: string }[]
    ready?: number
    succeeded?: number
    failed?: number
    startTime?: string
    completionTime?: string
    lastScheduleTime?: string
  }
}

/** The number of a workload's replicas by state. */
export interface Numbers {
  /** The desired replicas. */
  desired: number
  /** The existing pods of all revisions. */
  current: number
  /** The pods of the newest revision. Kinds without revisions have none. */
  updated?: number
  /** The replicas to update: fewer than `desired` if a partition keeps some back. */
  expectedUpdated?: number
  ready: number
  available: number
  /** Pods of a DaemonSet on nodes that should not run one, such as a lost node. */
  elsewhere?: number
  /** The succeeded pods of a Job, and the desired number. */
  succeeded?: number
  completions?: number
}

export const conditionOf = ({ status }: Workload, type: string): WorkloadCondition | undefined =>
  status?.conditions?.find((c) => c.type === type)

export const isConditionTrue = (object: Workload, type: string): boolean => conditionOf(object, type)?.status === 'True'
