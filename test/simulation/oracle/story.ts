import type { Node, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Verdict } from '../invariant.ts'
import type { Knowledge } from './knowledge.ts'
import { type Condition, revisionLabel } from './reading.ts'
import { type Rollout, nextRollout } from './rollout-model.ts'
import { type Statement, factsOfStatement, judgeStatus, reportOf } from './status-rules.ts'
import type { Status, WorkloadKind } from './workload-kind.ts'

// Small histories of workloads, for tests of the oracle. Times are seconds since `startMs`.

export const startMs = Date.parse('2026-01-01T00:00:00Z')
export const timeAt = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString().replace('.000', '')

/** A condition as a moment says it. The time at which it turned follows from the moment before, unless it is given. */
export interface Saying {
  /** `True ReplicasUpdated` */
  words: string
  /** The clock of the rollout. */
  clock?: number
  turned?: number
  message?: string
}

export interface Says {
  counts: Readonly<Record<string, number>>
  progressing?: Saying
  available: Saying
}

/** A look at a workload: what there was to see, and what was said. */
export interface Moment {
  at: number
  spec?: object
  pods?: readonly Pod[]
  sets?: readonly ReplicaSet[]
  nodes?: readonly Node[]
  revision?: string
  hasFailed?: boolean
  says: Says
}

export interface Story {
  kind: WorkloadKind
  spec: object
  moments: readonly Moment[]
}

const labels = { app: 'web' }

interface PodWords {
  revision?: string
  /** Since when it is ready. */
  ready?: number
  phase?: string
  isGoing?: boolean
  node?: string
  owner?: string
}

/** A pod of `web`, of revision 2 unless it says otherwise. */
export function pod(name: string, words: PodWords = {}): Pod {
  const { revision = '2', ready, phase = 'Running', isGoing, node: nodeName, owner = 'u' } = words
  const status = ready === undefined ? 'False' : 'True'
  const isReady = { type: 'Ready', status, lastTransitionTime: timeAt(ready ?? 0) }
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: timeAt(0),
      labels: { ...labels, [revisionLabel]: `web-${revision}` },
      ownerReferences: [{ uid: owner, controller: true }],
      ...(isGoing ? { deletionTimestamp: timeAt(0) } : {}),
    },
    spec: { containers: [{ name: 'main', image: `app:${revision}` }], ...(nodeName ? { nodeName } : {}) },
    status: { phase, conditions: [isReady] },
  } as unknown as Pod
}

export const node = (name: string, madeAt = 0): Node =>
  ({ metadata: { name, uid: name, creationTimestamp: timeAt(madeAt) }, spec: {} }) as unknown as Node

/** A ReplicaSet of a revision of Deployment `web`, with what it tells of its pods. */
export function replicaSet(revision: string, counts: readonly [number, number, number]): ReplicaSet {
  const [replicas, readyReplicas, availableReplicas] = counts
  const ownerReferences = [{ uid: 'u', controller: true }]
  return {
    metadata: { name: `web-${revision}`, uid: `s${revision}`, creationTimestamp: timeAt(0), labels, ownerReferences },
    spec: { template: { spec: { containers: [{ image: `app:${revision}` }] } } },
    status: { replicas, readyReplicas, availableReplicas },
  } as unknown as ReplicaSet
}

const ownerOf = ({ spec }: Story, moment: Moment, status: Status): KubeObject => {
  const { revision = '2' } = moment
  const template = { spec: { containers: [{ image: `app:${revision}` }] } }
  return {
    metadata: { name: 'web', uid: 'u', generation: 1 },
    spec: { replicas: 2, selector: { matchLabels: labels }, template, ...spec, ...moment.spec },
    status,
  } as KubeObject
}

function conditionOf(type: string, { words, clock, turned, message }: Saying, before: Status, at: number): Condition {
  const [status = '', reason = ''] = words.split(' ')
  const was = (before.conditions as Condition[] | undefined)?.find((c) => c.type === type)
  const kept = was?.status === status ? was.lastTransitionTime! : timeAt(at)
  const lastTransitionTime = turned === undefined ? kept : timeAt(turned)
  const clocked = clock === undefined ? {} : { lastUpdateTime: timeAt(clock) }
  return { type, status, reason, lastTransitionTime, ...clocked, ...(message ? { message } : {}) }
}

function statusOf({ at, says, revision = '2' }: Moment, before: Status): Status {
  const { counts, progressing, available } = says
  const progress = progressing ? [conditionOf('Progressing', progressing, before, at)] : []
  return {
    ...counts,
    updateRevision: `web-${revision}`,
    conditions: [...progress, conditionOf('Available', available, before, at)],
  }
}

/** The oracle's verdicts for each moment of a story, in order. */
export function judgeStory(story: Story): Verdict[] {
  let before: Rollout | undefined
  let stored: Status = {}
  return story.moments.map((moment) => {
    const status = statusOf(moment, stored)
    const previous = ownerOf(story, moment, stored)
    const around = { pods: moment.pods ?? [], sets: moment.sets ?? [], nodes: moment.nodes ?? [], claims: [] }
    const { at, hasFailed = false } = moment
    const atMs = startMs + at * 1000
    const knowledge: Knowledge = { owner: previous, atMs, views: [around], hasFailed, blur: 0 }
    const statement: Statement = { kind: story.kind, knowledge, status, previous, before, hasConditions: true }
    const facts = factsOfStatement(statement)
    const report = reportOf(statement, facts)
    const verdict = judgeStatus(statement, facts, report)
    before = report && nextRollout(before, report)
    stored = status
    return verdict
  })
}

/** The same story, with something else said in its last moment. */
export function withLie({ moments, ...story }: Story, lie: Partial<Says>): Story {
  const last = moments.at(-1)!
  const counts = { ...last.says.counts, ...lie.counts }
  return { ...story, moments: [...moments.slice(0, -1), { ...last, says: { ...last.says, ...lie, counts } }] }
}
