import type { CloneSetLifecycle, LabelSelector, PodTemplateSpec } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import type { WorkloadCondition } from '../../api/workload-condition.ts'

export type { WorkloadCondition as Condition }

/** The fields of all kinds of workloads that commands read. Each kind has some of them. */
export interface Workload extends KubeObject {
  spec?: {
    replicas?: number
    /** ReplicationControllers have labels only; Jobs have none until their controller has given them one. */
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
    /** Of CloneSets. */
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

/** How many replicas of a workload there are, and in which state. */
export interface Numbers {
  /** The replicas that are wanted. */
  desired: number
  /** The pods there are, of every revision. */
  current: number
  /** The pods of the newest revision. Kinds without revisions have none. */
  updated?: number
  /** How many are to be of the newest revision: fewer than `desired` where a partition keeps some back. */
  expectedUpdated?: number
  ready: number
  available: number
  /** Pods of a DaemonSet on nodes that are not to run one, such as a node that is lost. */
  elsewhere?: number
  /** How many pods of a Job have succeeded, and how many are to. */
  succeeded?: number
  completions?: number
}

export const conditionOf = ({ status }: Workload, type: string): WorkloadCondition | undefined =>
  status?.conditions?.find((c) => c.type === type)

export const isConditionTrue = (object: Workload, type: string): boolean => conditionOf(object, type)?.status === 'True'
