import type { ColumnType } from './table.ts'

/** Columns by name. The page is built with the same. */
type Columns = Readonly<Record<string, ColumnType>>

/** The list of workloads. Times are in seconds since the epoch; 0 and -1 say that there is none. */
export const workloadColumns = {
  kind: 'word', namespace: 'word', name: 'text', state: 'number', reason: 'word', sentence: 'text', blocker: 'text',
  since: 'number', deadline: 'number', desired: 'number', current: 'number', updated: 'number', ready: 'number',
  available: 'number', labels: 'word', paused: 'number',
} satisfies Columns

/** A pod as a cell. */
export const podColumns = {
  prefix: 'word', suffix: 'text', revision: 'word', age: 'number', state: 'number', node: 'word', restarts: 'number',
} satisfies Columns

/** The states of a cell. They are those of the pod's cause: a pod without one is available. */
export const cellStates = ['available', 'starting', 'waiting', 'trouble', 'ending', 'finished'] as const

/** The list of nodes. */
export const nodeColumns = {
  name: 'text', ready: 'word', cordoned: 'number', pressure: 'word', pods: 'number', capacity: 'number', cpu: 'word', memory: 'word',
  version: 'word', since: 'number',
} satisfies Columns
