import { describe, expect, it } from 'vitest'
import { noDeadline } from '../../../api/kinds/workloads/rollout-clock.ts'
import { type Condition, type ProgressMark, findCondition } from './conditions.ts'
import {
  type Headway, type Rollout, announceProgress, deadlineInMs, decideProgress, hasRisen, secondsText,
} from './progress.ts'

describe('progress', () => {
  const startMs = Date.parse('2026-01-01T00:00:00Z')
  const start = '2026-01-01T00:00:00Z'
  const at = (seconds: number) => startMs + seconds * 1000
  const timeAt = (seconds: number) => new Date(at(seconds)).toISOString().replace('.000', '')

  const mark = (over: Partial<ProgressMark> = {}): ProgressMark => ({
    revision: 'b', desiredReplicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 0, oldReplicas: 1, ...over,
  })
  const headway = (over: Partial<Headway> = {}): Headway => ({ updated: 2, ready: 1, available: 0, old: 1, ...over })
  const progressing = (over: Partial<Condition> = {}): Condition => ({
    type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', message: 'moving', lastTransitionTime: start, lastUpdateTime: start, progress: mark(), ...over,
  })
  const rollout = (over: Partial<Rollout> = {}): Rollout => ({
    deadlineSeconds: 60,
    revision: 'b',
    desired: 3,
    headway: headway(),
    movingReason: 'ReplicasUpdated',
    messages: { moving: 'moving', exceeded: 'too late' },
    ...over,
  })
  const exceeded = progressing({ status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too late' })
  const complete = progressing({ reason: 'NewRevisionAvailable', message: 'done' })
  const held = progressing({ reason: 'PartitionReached', message: 'held' })
  const forDeletion = progressing({ reason: 'WaitingForPodDeletion', message: 'yours' })
  const done = { reason: 'NewRevisionAvailable', message: 'done' }
  const paused = { status: 'Unknown', reason: 'RolloutPaused', message: 'paused' } as const
  const begun = { status: 'True', reason: 'NewRevisionCreated', message: 'new' } as const

  /**
   * [case, stored condition, what is different of the rollout, seconds after the start, expected, its clock in seconds
   * after the start]
   */
  type Row = [string, Condition | undefined, Partial<Rollout>, number, string, number | undefined]

  describe('decideProgress()', () => {
    it.each<Row>([
      ['waits for the deadline', progressing(), {}, 10, 'True ReplicasUpdated', 0],
      ['has time a second before it', progressing(), {}, 59, 'True ReplicasUpdated', 0],
      ['is out of time at the deadline, with the same clock', progressing(), {}, 60, 'False ProgressDeadlineExceeded', 0],
      ['stays out of time', exceeded, {}, 5000, 'False ProgressDeadlineExceeded', 0],
      ['goes on after that when a pod comes further than any before', exceeded, { headway: headway({ ready: 2 }) }, 5000, 'True ReplicasUpdated', 5000],
      ['completes after that', exceeded, { settled: done }, 5000, 'True NewRevisionAvailable', 5000],
      ['completes at the last moment', progressing(), { settled: done }, 60, 'True NewRevisionAvailable', 60],
      ['never ends without a deadline', progressing(), { deadlineSeconds: undefined }, 1e9, 'True ReplicasUpdated', 0],
      ['never ends with the deadline that means none', progressing(), { deadlineSeconds: noDeadline }, 1e9, 'True ReplicasUpdated', 0],
      ['has no deadline where its clock was not kept', { ...progressing(), lastUpdateTime: undefined } as unknown as Condition, {}, 600, 'True ReplicasUpdated', undefined],
      ['says nothing before anything was begun', undefined, {}, 600, 'none', undefined],
      ['begins', undefined, { beginning: begun }, 5, 'True NewRevisionCreated', 5],
      ['begins anew after it was complete', complete, { beginning: begun }, 5, 'True NewRevisionCreated', 5],
      ['begins anew after it was out of time', exceeded, { beginning: begun }, 500, 'True NewRevisionCreated', 500],
      ['is complete as it begins, where nothing is wanted', undefined, { beginning: begun, settled: done }, 5, 'True NewRevisionAvailable', 5],
      ['counts the time after a pause', progressing({ status: 'Unknown', reason: 'DeploymentResumed' }), {}, 61, 'False ProgressDeadlineExceeded', 0],
      ['is paused', progressing(), { paused }, 600, 'Unknown RolloutPaused', 0],
      ['fails before the deadline where no pod can be made', progressing(), { failed: { reason: 'FailedCreate', message: 'no' } }, 5, 'False FailedCreate', 0],
      ['goes on when pods can be made again', progressing({ status: 'False', reason: 'FailedCreate' }), {}, 30, 'True ReplicasUpdated', 0],
    ])('%s', (_, stored, over, seconds, expected, clock) => expectRow(stored, over, seconds, expected, clock))
  })

  describe('only what goes beyond the mark moves the clock', () => {
    it.each<Row>([
      ['one more updated', progressing(), { headway: headway({ updated: 3 }) }, 30, 'True ReplicasUpdated', 30],
      ['one more ready', progressing(), { headway: headway({ ready: 2 }) }, 30, 'True ReplicasUpdated', 30],
      ['one more available', progressing(), { headway: headway({ available: 1 }) }, 30, 'True ReplicasUpdated', 30],
      ['one old one less', progressing(), { headway: headway({ old: 0 }) }, 30, 'True ReplicasUpdated', 30],
      ['a pod that crashed', progressing(), { headway: headway({ ready: 0 }) }, 30, 'True ReplicasUpdated', 0],
      ['a pod that is ready again after it crashed', progressing(), { headway: headway({ ready: 1 }) }, 59, 'True ReplicasUpdated', 0],
      ['a pod that is ready again when time is up', progressing(), { headway: headway({ ready: 1 }) }, 60, 'False ProgressDeadlineExceeded', 0],
      ['an old pod that came back', progressing(), { headway: headway({ old: 2 }) }, 30, 'True ReplicasUpdated', 0],
    ])('%s', (_, stored, over, seconds, expected, clock) => expectRow(stored, over, seconds, expected, clock))

    it('keeps the best of each number, not the numbers of one moment', () => {
      const first = decideProgress([progressing()], rollout({ headway: headway({ ready: 0, updated: 3 }) }), at(10))
      expect(findCondition(first, 'Progressing')!.progress).toEqual(mark({ updatedReplicas: 3 }))
      expect(clockOf(decideProgress(first, rollout({ headway: headway({ ready: 1, updated: 3 }) }), at(20)))).toBe(timeAt(10))
    })

    it('begins with the numbers of that moment', () => {
      const first = decideProgress([complete], rollout({ beginning: begun, revision: 'c', headway: { updated: 0, ready: 0, available: 0, old: 3 } }), at(10))
      expect(findCondition(first, 'Progressing')!.progress).toEqual({ revision: 'c', desiredReplicas: 3, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0, oldReplicas: 3 })
    })

    it('goes by the numbers of the status where no mark is kept', () => {
      const { progress: _, ...bare } = progressing()
      expect(clockOf(decideProgress([bare], rollout({ hasRisen: true }), at(30)))).toBe(timeAt(30))
      expect(clockOf(decideProgress([bare], rollout({ hasRisen: false, headway: headway({ ready: 3 }) }), at(30)))).toBe(start)
    })
  })

  describe('a deadline is judged anew when it changes', () => {
    it.each<Row>([
      ['raised, with time left', exceeded, { deadlineSeconds: 600 }, 70, 'True ReplicasUpdated', 0],
      ['raised, and passed as well', exceeded, { deadlineSeconds: 65 }, 70, 'False ProgressDeadlineExceeded', 0],
      ['taken away', exceeded, { deadlineSeconds: noDeadline }, 70, 'True ReplicasUpdated', 0],
      ['lowered to a time that has passed', progressing(), { deadlineSeconds: 20 }, 30, 'False ProgressDeadlineExceeded', 0],
      ['lowered to a time that has not', progressing(), { deadlineSeconds: 40 }, 30, 'True ReplicasUpdated', 0],
    ])('%s', (_, stored, over, seconds, expected, clock) => expectRow(stored, over, seconds, expected, clock))
  })

  describe('finished means finished', () => {
    it.each<Row>([
      ['a pod is lost', complete, { headway: headway({ ready: 0 }) }, 600, 'True NewRevisionAvailable', 0],
      ['a pod comes back', complete, { headway: headway({ ready: 3, available: 3 }) }, 600, 'True NewRevisionAvailable', 0],
      ['pods can no longer be made', complete, { failed: { reason: 'FailedCreate', message: 'no' } }, 600, 'True NewRevisionAvailable', 0],
      ['held by a partition, whatever the pods do', held, { headway: headway({ ready: 0, old: 0 }) }, 600, 'True PartitionReached', 0],
      ['held until somebody deletes pods', forDeletion, { headway: headway({ ready: 0, available: 0 }) }, 600, 'True WaitingForPodDeletion', 0],
      ['somebody deletes one', forDeletion, { headway: headway({ old: 0 }) }, 600, 'True ReplicasUpdated', 600],
      ['held no more, but complete', held, { settled: done }, 600, 'True NewRevisionAvailable', 600],
    ])('%s', (_, stored, over, seconds, expected, clock) => expectRow(stored, over, seconds, expected, clock))
  })

  describe('words', () => {
    it('change without moving the clock, and have their own for a beginning', () => {
      const waiting = (reason: string) => `${reason} goes on`
      const said = decideProgress([progressing({ reason: 'NewRevisionCreated' })], rollout({ messages: { moving: 'm', exceeded: 'e', waiting } }), at(30))
      expect(said).toEqual([progressing({ reason: 'NewRevisionCreated', message: 'NewRevisionCreated goes on' })])
      expect(decideProgress([exceeded], rollout({ messages: { moving: 'm', exceeded: 'pod web-2 …' } }), at(90))).toEqual([{ ...exceeded, message: 'pod web-2 …' }])
    })

    it('leave the other conditions alone', () => {
      const available: Condition = { type: 'Available', status: 'False' }
      expect(decideProgress([available, progressing()], rollout(), at(90))[0]).toBe(available)
    })
  })

  describe('deadlineInMs()', () => {
    it.each<[string, Condition | undefined, number | undefined, number, number | undefined]>([
      ['time is left', progressing(), 60, 10, 50_000],
      ['after a resume', progressing({ status: 'Unknown', reason: 'RolloutResumed' }), 60, 10, 50_000],
      ['it has passed', exceeded, 60, 70, undefined],
      ['no deadline', progressing(), noDeadline, 10, undefined],
      ['complete', complete, 60, 10, undefined],
      ['held', held, 60, 10, undefined],
      ['paused', progressing({ status: 'Unknown', reason: 'RolloutPaused' }), 60, 10, undefined],
      ['nothing said yet', undefined, 60, 10, undefined],
    ])('%s', (_, condition, deadline, seconds, left) => {
      expect(deadlineInMs(condition && [condition], deadline, at(seconds))).toBe(left)
    })
  })

  it.each<[string, object, boolean]>([
    ['nothing', {}, false],
    ['one more updated', { updatedReplicas: 3 }, true],
    ['one old one less', { replicas: 3 }, true],
    ['one more ready', { readyReplicas: 4 }, true],
    ['one more available', { availableReplicas: 4 }, true],
    ['one lost', { readyReplicas: 2, availableReplicas: 2 }, false],
  ])('hasRisen(): %s', (_, over, risen) => {
    const before = { replicas: 4, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3 }
    expect(hasRisen(before, { ...before, ...over })).toBe(risen)
  })

  it.each([[1, '1 second'], [60, '60 seconds']])('secondsText(%d)', (seconds, text) => {
    expect(secondsText(seconds)).toBe(text)
  })

  const clockOf = (conditions: readonly Condition[]): string | undefined => findCondition(conditions, 'Progressing')?.lastUpdateTime

  function expectRow(stored: Condition | undefined, over: Partial<Rollout>, seconds: number, expected: string, clock: number | undefined): void {
    const conditions = decideProgress(stored && [stored], rollout(over), at(seconds))
    const said = findCondition(conditions, 'Progressing')
    expect(said ? `${said.status} ${said.reason}` : 'none').toBe(expected)
    expect(clockOf(conditions)).toBe(clock === undefined ? undefined : timeAt(clock))
  }
})

describe('announce', () => {
  const progressing = (status: string, reason: string, over: Partial<Condition> = {}): { conditions: Condition[] } => ({
    conditions: [{ type: 'Progressing', status, reason, message: 'm', lastUpdateTime: 'then', progress: { revision: 'a' }, ...over }],
  })
  const exceeded = progressing('False', 'ProgressDeadlineExceeded')

  it.each<[string, ReturnType<typeof progressing> | undefined, ReturnType<typeof progressing>, string[]]>([
    ['a deadline that passes', progressing('True', 'ReplicasUpdated'), exceeded, ['Warning ProgressDeadlineExceeded: m']],
    ['the same again', exceeded, exceeded, []],
    ['a rollout that is complete', progressing('True', 'ReplicasUpdated'), progressing('True', 'NewRevisionAvailable'), ['Normal RolloutComplete: m']],
    ['one that is complete from the start', undefined, progressing('True', 'NewReplicaSetAvailable'), ['Normal RolloutComplete: m']],
    ['one that goes on', exceeded, progressing('True', 'ReplicasUpdated', { lastUpdateTime: 'now' }), ['Normal RolloutRecovered: The rollout makes progress again.']],
    ['a deadline that was raised', exceeded, progressing('True', 'ReplicasUpdated'), []],
    ['another rollout that begins', exceeded, progressing('True', 'NewRevisionCreated', { lastUpdateTime: 'now' }), []],
    ['another revision that moves', exceeded, progressing('True', 'ReplicaSetUpdated', { lastUpdateTime: 'now', progress: { revision: 'b' } }), []],
    ['a rollout that is held', progressing('True', 'ReplicasUpdated'), progressing('True', 'PartitionReached'), []],
  ])('announceProgress(): %s', (_, before, after, expected) => {
    const told: string[] = []
    announceProgress({ event: (type, reason, message) => told.push(`${type} ${reason}: ${message}`) }, before, after)
    expect(told).toEqual(expected)
  })
})
