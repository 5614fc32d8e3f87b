import type { CauseKind } from '../../../src/api/explain/index.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import type { CauseScene } from './cause-scene.ts'
import type { KindName } from './every-kind-scene.ts'

/** The time at which conditions name a cause. `never` says that explain() alone does. */
export type When = 'at once' | 'at the deadline' | 'never'

/** A fault, how it comes about, and the one sentence that every kind of workload says about it. */
export interface CauseRow {
  it: string
  what: CauseKind
  /** POD, OWNER, REVISION and TIME stand for names and for a time. */
  says: string
  /** All unless they are said. */
  kinds?: readonly KindName[]
  podSpec?: object
  spec?: object
  metadata?: object
  /** Happens before the workloads are made. */
  before?(s: CauseScene): Promise<unknown>
  /**
   * Happens to each workload; `pod` is its pod, where there is one. Returns the name of the pod that it is about, if
   * that is another one.
   */
  stage?(s: CauseScene, name: KindName, pod: Pod): Promise<unknown>
  /** Mends it: by default, the pod becomes ready. */
  mend?(s: CauseScene, name: KindName): Promise<unknown>
  when?: When | ((name: KindName) => When)
  /** The conditions that tell of it, with what stands before the sentence; by default all that a kind has. */
  tells?(name: KindName): Record<string, string | RegExp>
  /** It ends before the deadline, or the rollout is not what it is about. */
  isBrief?: true
  /** The place of the sentence in explain(): the first unless something else is worse. */
  explains?: 'first' | 'among others' | 'nothing'
  /** A row that only varies another one is not on the page. */
  isVariant?: true
}

const time = String.raw`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`

/** The sentence as a pattern: POD and OWNER are these, TIME is any time. */
export function sentencePattern(says: string, pod: string, owner: string): string {
  return escaped(says).replaceAll('POD', pod).replaceAll('OWNER', owner).replaceAll('TIME', time).replaceAll(
    'REVISION', String.raw`[\w-]+`,
  )
}

/** Text as a pattern that matches just it. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

type Statuses = (now: string, pod: Pod) => object

/** Puts the pod on the node and reports it so. */
export const reported = (status: Statuses) => async (s: CauseScene, _: KindName, pod: Pod): Promise<void> => {
  await s.bind(pod)
  await s.report(pod, status(s.now, pod))
}

/** Reports a pod that has no node. */
export const unplaced = (status: Statuses) => (s: CauseScene, _: KindName, pod: Pod): Promise<void> =>
  s.report(pod, status(s.now, pod))

export const unready = (now: string) => ({ type: 'Ready', status: 'False', lastTransitionTime: now })

/** One container status. */
export const container = (state: object, more: object = {}) => ({
  name: 'main', image: 'app:1', imageID: '', ready: false, started: false, restartCount: 0, state, ...more,
})

/** A pod whose containers are so. */
export const withContainers = (phase: string, ...containerStatuses: object[]): Statuses => (now) => ({
  phase, conditions: [unready(now)], containerStatuses,
})

export const waiting = (reason: string, message?: string) => ({ waiting: { reason, ...(message ? { message } : {}) } })
export const ended = (exitCode: number, more: object = {}) => ({ terminated: { exitCode, ...more } })
