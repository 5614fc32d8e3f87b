import type { Numbers } from './object.ts'

/** The states of a workload, most urgent first. */
export const states = [
  'Stuck',
  'Failed',
  'Degraded',
  'Terminating',
  'Progressing',
  'Waiting',
  'Held',
  'Paused',
  'Suspended',
  'Running',
  'Scheduled',
  'Available',
  'Complete',
] as const

export type State = (typeof states)[number]

/** All kinds of workloads, in the default order of tables. */
export const kindNames = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'CloneSet',
  'ReplicaSet',
  'ReplicationController',
  'Job',
  'CronJob',
] as const

export type KindName = (typeof kindNames)[number]

/** The colour of a state, by the urgency for users. */
export const stateTones: Readonly<Record<State, 'bad' | 'warn' | 'busy' | 'good'>> = {
  Stuck: 'bad',
  Failed: 'bad',
  Degraded: 'bad',
  Terminating: 'warn',
  Progressing: 'busy',
  Waiting: 'busy',
  Held: 'warn',
  Paused: 'warn',
  Suspended: 'warn',
  Running: 'good',
  Scheduled: 'good',
  Available: 'good',
  Complete: 'good',
}

/** The state of a workload according to its own object. */
export interface Standing {
  state: State
  /** The reason of the decisive condition, or a word of ours. */
  reason: string
  /** The end of a sentence: `2 of 3 replicas are updated, 1 of 3 is available`. */
  message: string
  since: string | undefined
  /** The end of its progress deadline, while that runs. */
  deadlineAtMs: number | undefined
  numbers: Numbers
}

/** The same without numbers. */
export type Said = Omit<Standing, 'numbers' | 'deadlineAtMs'> & { deadlineAtMs?: number | undefined }
