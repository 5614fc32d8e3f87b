import type { KubeObject } from '../../src/api/object.ts'
import type { ManagedController } from '../../src/controllers/kit/index.ts'
import { isFree } from '../../src/controllers/kit/index.ts'
import { type Condition, msOf, secondOf } from './oracle/reading.ts'

type Status = Record<string, unknown> & { conditions?: Condition[] }

/** A status that a controller is about to write, and its input. */
interface Draft {
  /** The content, to be distorted. */
  next: Status
  stored: Status
  owner: KubeObject & { spec: Record<string, unknown> }
  nowMs: number
  /** True for the first reconcile of the owner in this life of the manager. */
  isFirstLook: boolean
}

/** Changes a status to that of a controller with a certain bug. */
type Distortion = (draft: Draft) => void

const find = ({ conditions }: Status, type: string): Condition | undefined => conditions?.find((c) => c.type === type)
const timeOf = (ms: number): string => new Date(secondOf(ms)).toISOString().replace('.000', '')
const count = (status: Status, ...fields: string[]): number => fields.reduce((sum, field) => sum + ((status[field] as number | undefined) ?? 0), 0)
const readyIn = (status: Status): number => count(status, 'readyReplicas', 'numberReady')
const availableIn = (status: Status): number => count(status, 'availableReplicas', 'numberAvailable')
const updatedIn = (status: Status): number => count(status, 'updatedReplicas', 'updatedNumberScheduled')
const wantedOf = ({ owner, next }: Draft): number => (owner.spec.replicas as number | undefined) ?? count(next, 'desiredNumberScheduled')
const deadlineOf = ({ owner }: Draft): number => (owner.spec.progressDeadlineSeconds as number | undefined) ?? Number.POSITIVE_INFINITY

const isMoving = (said: Condition | undefined): said is Condition =>
  said?.status === 'True' && ['NewRevisionCreated', 'ReplicasUpdated', 'NewReplicaSetCreated', 'FoundNewReplicaSet', 'ReplicaSetUpdated'].includes(said.reason ?? '')
const isExceeded = (said: Condition | undefined): said is Condition => said?.reason === 'ProgressDeadlineExceeded'
const isComplete = (said: Condition | undefined): said is Condition => said?.reason === 'NewRevisionAvailable' || said?.reason === 'NewReplicaSetAvailable'

/** Replaces the Progressing condition and its transition time. */
function say(draft: Draft, status: string, reason: string, lastUpdateTime: string): void {
  const said = find(draft.next, 'Progressing')
  const was = find(draft.stored, 'Progressing')
  if (!said) return
  const lastTransitionTime = was?.status === status ? was.lastTransitionTime! : timeOf(draft.nowMs)
  Object.assign(said, { status, reason, lastUpdateTime, lastTransitionTime })
}

function sayAvailable({ next, stored, nowMs }: Draft, isAvailable: boolean): void {
  const said = find(next, 'Available')
  const status = isAvailable ? 'True' : 'False'
  if (!said) return
  const lastTransitionTime = find(stored, 'Available')?.status === status ? find(stored, 'Available')!.lastTransitionTime! : timeOf(nowMs)
  Object.assign(said, { status, reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable', lastTransitionTime })
}

const moving = 'ReplicasUpdated'

/** Bugs of conditions. Each is detected within two hundred seeds of its scenario in `simulation.test.ts`. */
export const distortions = {
  /** A pod that becomes ready again resets the progress clock. */
  'clock-of-crashes'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    const hasRisen = readyIn(draft.next) > readyIn(draft.stored) || availableIn(draft.next) > availableIn(draft.stored)
    if (hasRisen && (isMoving(said) || isExceeded(said))) say(draft, 'True', moving, timeOf(draft.nowMs))
  },

  /** The deadline is ignored. */
  'deadline-unseen'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (isExceeded(said)) say(draft, 'True', moving, said.lastUpdateTime!)
  },

  /** The deadline counts from the last transition of the condition. */
  'deadline-of-turn'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (isMoving(said) && draft.nowMs >= msOf(said.lastTransitionTime) + deadlineOf(draft) * 1000) say(draft, 'False', 'ProgressDeadlineExceeded', said.lastUpdateTime!)
  },

  /** A deadline that was raised after it had passed remains exceeded. */
  'exceeded-for-ever'(draft: Draft) {
    const [was, said] = [find(draft.stored, 'Progressing'), find(draft.next, 'Progressing')]
    if (isExceeded(was) && isMoving(said) && was.lastUpdateTime === said.lastUpdateTime) say(draft, 'False', 'ProgressDeadlineExceeded', said.lastUpdateTime!)
  },

  /** Ready pods count as available, regardless of minReadySeconds. */
  'min-ready-forgotten'(draft: Draft) {
    if (!draft.owner.spec.minReadySeconds) return
    const field = 'numberReady' in draft.next ? 'numberAvailable' : 'availableReplicas'
    draft.next[field] = readyIn(draft.next)
    sayAvailable(draft, availableIn(draft.next) >= wantedOf(draft))
  },

  /** Available pods complete a rollout, regardless of old pods. */
  'old-pods-forgotten'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (isMoving(said) && updatedIn(draft.next) > 0 && availableIn(draft.next) >= wantedOf(draft)) say(draft, 'True', 'NewRevisionAvailable', timeOf(draft.nowMs))
  },

  /** A rollout that is held by a partition waits for the old pods that it keeps. */
  'partition-of-all'(draft: Draft) {
    const [was, said] = [find(draft.stored, 'Progressing'), find(draft.next, 'Progressing')]
    if (said?.reason === 'PartitionReached' && was?.reason !== said.reason && availableIn(draft.next) < wantedOf(draft)) say(draft, 'True', moving, (was ?? said).lastUpdateTime!)
  },

  /** A pod that fails after a rollout starts another one. */
  'death-after-completion'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (isComplete(said) && isComplete(find(draft.stored, 'Progressing')) && availableIn(draft.next) < availableIn(draft.stored)) say(draft, 'True', moving, timeOf(draft.nowMs))
  },

  /** A message names a pod that does not exist. */
  'name-of-nobody'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (isMoving(said)) said.message = `${said.message} Pod ${draft.owner.metadata.name}-none waits for its containers to start.`
  },

  /** A lost node starts a rollout. */
  'lost-node'(draft: Draft) {
    const isLost = count(draft.next, 'desiredNumberScheduled') < count(draft.stored, 'desiredNumberScheduled')
    if (isLost && find(draft.next, 'Progressing')?.status === 'True') say(draft, 'True', moving, timeOf(draft.nowMs))
  },

  /** Time while paused counts. */
  'pause-counts'(draft: Draft) {
    const [was, said] = [find(draft.stored, 'Progressing'), find(draft.next, 'Progressing')]
    if (!was?.reason?.endsWith('Paused') || !said?.reason?.endsWith('Resumed')) return
    const isOver = draft.nowMs >= msOf(was.lastUpdateTime) + deadlineOf(draft) * 1000
    say(draft, isOver ? 'False' : 'Unknown', isOver ? 'ProgressDeadlineExceeded' : said.reason, was.lastUpdateTime!)
  },

  /** Available is True with one replica too few. */
  'one-less'(draft: Draft) {
    if (availableIn(draft.next) === wantedOf(draft) - 1) sayAvailable(draft, true)
  },

  /** A restart of the manager resets the progress clock. */
  'restart-resets'(draft: Draft) {
    const said = find(draft.next, 'Progressing')
    if (draft.isFirstLook && isMoving(said)) say(draft, 'True', said.reason!, timeOf(draft.nowMs))
  },
} satisfies Record<string, Distortion>

/** The bug that is planted in all managers at present. */
export const planted: { bug: Distortion | undefined } = { bug: undefined }

/** A controller with the planted bug, if any. Each life of a manager has its own. */
export function withPlantedBug(definition: ManagedController): ManagedController {
  const { bug } = planted
  if (!bug || isFree(definition) || !definition.status) return definition
  const known = new Set<string>()
  const stage = definition.status
  return {
    ...definition,
    status: { ...stage, compute(seen: Record<string, unknown>, outcome: never) {
      const status = stage.compute(seen, outcome) as Status
      const owner = (seen.set ?? seen.deployment ?? seen.owner ?? seen.job) as (Draft['owner'] & { status?: Status }) | undefined
      if (!owner || !status) return status
      const next = structuredClone(status)
      const { uid = '' } = owner.metadata
      bug({ next, stored: owner.status ?? {}, owner, nowMs: seen.nowMs as number, isFirstLook: !known.has(uid) })
      known.add(uid)
      return next
    } },
  } as ManagedController
}
