import type { Numbers } from './object.ts'

/** The states of a workload, those that need attention most first. */
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

/** All kinds of workloads, in the order in which a table names them where nothing else decides. */
export const kindNames = [
  'Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet', 'ReplicaSet', 'ReplicationController', 'Job', 'CronJob',
] as const

export type KindName = (typeof kindNames)[number]

/** How a state is coloured: by what a person has to do about it. */
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

/** Where a workload stands, as its own object tells it. */
export interface Standing {
  state: State
  /** The reason of the condition that decided, or a word of ours. */
  reason: string
  /** The end of a sentence: `2 of 3 replicas are updated, 1 of 3 is available`. */
  message: string
  since: string | undefined
  /** The time at which its progress deadline passes, while that runs. */
  deadlineAtMs: number | undefined
  numbers: Numbers
}

/** The same before the numbers are added. */
export type Said = Omit<Standing, 'numbers' | 'deadlineAtMs'> & { deadlineAtMs?: number | undefined }
