import type { ColumnType } from './table.ts'

/** Columns by name. The page is built with the same declarations. */
type Columns = Readonly<Record<string, ColumnType>>

/** Columns of workloads. Times are seconds since the epoch; 0 and -1 mean none. */
export const workloadColumns = {
  kind: 'word',
  namespace: 'word',
  name: 'text',
  state: 'number',
  reason: 'word',
  sentence: 'text',
  blocker: 'text',
  since: 'number',
  deadline: 'number',
  desired: 'number',
  current: 'number',
  updated: 'number',
  ready: 'number',
  available: 'number',
  labels: 'word',
  paused: 'number',
} satisfies Columns

/** Columns of pods. */
export const podColumns = {
  prefix: 'word',
  suffix: 'text',
  revision: 'word',
  age: 'number',
  state: 'number',
  node: 'word',
  restarts: 'number',
} satisfies Columns

/** States of a cell, from the pod's cause: a pod without one is available. */
export const cellStates = ['available', 'starting', 'waiting', 'trouble', 'ending', 'finished'] as const

/** Columns of nodes. */
export const nodeColumns = {
  name: 'text',
  ready: 'word',
  cordoned: 'number',
  pressure: 'word',
  pods: 'number',
  capacity: 'number',
  cpu: 'word',
  memory: 'word',
  version: 'word',
  since: 'number',
} satisfies Columns
