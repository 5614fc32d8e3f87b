import type { KubeObject } from '../../../src/api/object.ts'
import type { Knowledge, Surroundings } from './knowledge.ts'
import { type Certainty, type Span, certaintyOf, spanOf } from './reading.ts'

/** The progress of a rollout. All numbers except `old` grow. */
export interface Headway {
  /** Pods of the revision that is rolled out; those of them that are ready, and available. */
  updated: number
  ready: number
  available: number
  /** Pods of other revisions. */
  old: number
}

/** A workload in one way to look at it. */
export interface Reading {
  /** The expected numbers of the status. */
  counts: Readonly<Record<string, number>>
  headway: Headway
  /** Every replica is updated and available, and no old pod is left. */
  isComplete: boolean
  /** As many replicas are updated and available as the partition lets go. */
  isHeld: boolean
  /** The updated pods are available, and somebody has to delete the others. */
  isWaiting: boolean
}

/** The identity of a rollout. Another value starts another rollout. */
export interface Terms {
  /** Empty where there is none of the template yet. */
  revision: string
  /** The content of the revision, for owners without one. */
  template?: string
  replicas: number
  /** The possible numbers of replicas to update. */
  goals: readonly number[]
  isPaused: boolean
  /** Values whose change may start a rollout, but need not. */
  details: string
  /** True if something may have begun that nobody saw. */
  mayHaveBegun?: boolean
  /** A scale of what is complete begins nothing. */
  staysComplete?: boolean
  /** By uid: nodes that are to run a pod, and when they were made. */
  nodes: ReadonlyMap<string, number>
}

export type Status = Readonly<Record<string, unknown>>

/** A workload whose status somebody writes, or has written. */
export interface Look {
  owner: KubeObject
  status: Status
  atMs: number
  around: Surroundings
}

/** One kind of workload, as its users know it. */
export interface WorkloadKind {
  plural: string
  /** In every way to look at it that is as good as any other. */
  read(look: Look): Reading[]
  /** Undefined for kinds that roll nothing out. `look` has all that was written in it. */
  terms?(look: Look): Terms
  /** The available replicas in the status, and the required number. */
  service(look: Look): { available: number; least: number }
  /** Undefined without a deadline. */
  deadlineSeconds(owner: KubeObject): number | undefined
  /** True if no deadline means that nothing is said about progress. */
  needsDeadline?: boolean
}

/** A workload in all ways to look at it. */
export interface Facts {
  counts: ReadonlyMap<string, Span>
  headway: Record<keyof Headway, Span>
  isComplete: Certainty
  isHeld: Certainty
  isWaiting: Certainty
}

export function factsOf(kind: WorkloadKind, { owner, atMs, views, blur }: Knowledge, status: Status): Facts {
  const readings = views.flatMap((around) => kind.read({ owner, status, atMs, around }))
  const fields = Object.keys(readings[0]!.counts)
  const span = (numbers: readonly number[]): Span => widened(spanOf(numbers), blur)
  // A writer may leave the result of its write to the next reconcile.
  const certainty = (answers: readonly boolean[]): Certainty => (views.length > 1 && certaintyOf(answers) === 'yes' ? 'perhaps' : certaintyOf(answers))
  const headway = (key: keyof Headway): Span => span(readings.map((reading) => reading.headway[key]))
  return {
    counts: new Map(fields.map((field) => [field, span(readings.map(({ counts }) => counts[field]!))])),
    headway: { updated: headway('updated'), ready: headway('ready'), available: headway('available'), old: headway('old') },
    isComplete: certainty(readings.map(({ isComplete }) => isComplete)),
    isHeld: certainty(readings.map(({ isHeld }) => isHeld)),
    isWaiting: certainty(readings.map(({ isWaiting }) => isWaiting)),
  }
}

const widened = ({ low, high }: Span, by: number): Span => (by === 0 ? { low, high } : { low: Math.max(0, low - by), high: high + by })

export const numberIn = (status: Status, field: string): number => (status[field] as number | undefined) ?? 0

/** The deadline that never comes, as the API writes it. */
const never = 2_147_483_647

/** The deadline of a spec that has one. */
export function deadlineOf(owner: KubeObject): number | undefined {
  const { progressDeadlineSeconds } = (owner as { spec?: { progressDeadlineSeconds?: number } }).spec ?? {}
  return progressDeadlineSeconds === never ? undefined : progressDeadlineSeconds
}
