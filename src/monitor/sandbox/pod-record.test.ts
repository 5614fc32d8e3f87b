import { describe, expect, it } from 'vitest'
import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { mountFailure, sandboxConditionType } from '../../api/kinds/pods/sandbox-condition.ts'
import { type Look, type PodRecord, advance, endWait, endsAt, newRecord, vanish } from './pod-record.ts'
import { type SandboxView, viewOf } from './sandbox-view.ts'
import { lackOf } from './user-objects.ts'

const day = '2022-12-06T'

interface Said {
  scheduled?: string
  /** Status, time and reason. */
  ready?: ['True' | 'False' | 'Unknown', string, string?]
  deleted?: string
  grace?: number
  phase?: string
  containers?: Partial<ContainerStatus>[]
  /** When DisruptionTarget has turned True. */
  evicted?: string
  /** When it is said; by default when it has turned. */
  at?: string
}

/** A pod that says so, with times of day. */
function pod({ scheduled, ready, deleted, grace, phase = 'Pending', containers = [], evicted }: Said): Pod {
  const [status, since, reason] = ready ?? []
  const message = reason && mountFailure('settings', 'whatever')
  const conditions = [
    ...(ready ? [{ type: sandboxConditionType, status, lastTransitionTime: `${day}${since}Z`, reason, message }] : []),
    ...(evicted ? [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: `${day}${evicted}Z` }] : []),
    ...(scheduled ? [{ type: 'PodScheduled', status: 'True', lastTransitionTime: `${day}${scheduled}Z` }] : []),
  ]
  const deletion = deleted ? { deletionTimestamp: `${day}${deleted}Z`, deletionGracePeriodSeconds: grace ?? 0 } : {}
  const volumes = [{ name: 'settings', projected: { sources: [{ configMap: { name: 'c' } }, { secret: { name: 's' } }] } }]
  return { metadata: { uid: 'u', ...deletion }, spec: { volumes }, status: { phase, startTime: `${day}15:33:47Z`, conditions, containerStatuses: containers } } as unknown as Pod
}

const timeoutMs = 300_000

const lookAt = (said: Said, isLive = true): Look => ({
  nowMs: Date.parse(`${day}${said.at ?? said.ready?.[1] ?? said.scheduled ?? '15:33:00'}Z`),
  timeoutMs,
  lack: lackOf(pod(said), () => undefined),
  isLive,
})

const inShort = ({ kind, latencyMs, isLate, isUserError }: ReturnType<typeof endWait>): string =>
  [
    kind, ...(latencyMs === undefined ? [] : [`${latencyMs / 1000}s`]), ...(isLate ? ['late'] : []),
    ...(isUserError ? ['by its user'] : []),
  ].join(' ')

/** The facts about a pod with a sequence of states. */
function told(...saying: Said[]): string[] {
  const record = newRecord()
  return saying.flatMap((said) => advance(record, viewOf(pod(said)), lookAt(said)).map(inShort))
}

const scheduled = '15:33:46'
const taken: Said = { scheduled, ready: ['False', '15:33:47'] }
const ranOnce = (startedAt: string, restartCount = 1): Partial<ContainerStatus>[] => [{ restartCount, state: { running: {} }, lastState: { terminated: { startedAt: `${day}${startedAt}Z` } } } as never]

describe('advance() tells of', () => {
  it.each<[string, string[], Said[]]>([
    ['nothing before a pod is ready', [], [{ scheduled }, taken]],
    ['a sandbox that is ready after three seconds', ['created 3s'], [taken, { scheduled, ready: ['True', '15:33:49'] }]],
    ['a sandbox that is ready after ten seconds', ['created 10s'], [taken, { scheduled, ready: ['True', '15:33:56'] }]],
    ['the same once, however often it is said', ['created 3s'], [taken, { scheduled, ready: ['True', '15:33:49'] }, { scheduled, ready: ['True', '15:33:49'], phase: 'Running' }]],
    ['a sandbox that is ready before its pod was scheduled, by two clocks', ['created 0s'], [{ scheduled, ready: ['True', '15:33:45'] }]],
    ['a sandbox that is ready before anybody has looked', ['created 6s'], [{ scheduled, ready: ['True', '15:33:52'] }]],
    [
      'a restart apart from the first readiness',
      ['created 6s', 'recreated 6s'],
      [taken, { scheduled, ready: ['True', '15:33:52'] }, { scheduled, ready: ['False', '17:33:46'] }, { scheduled, ready: ['True', '17:33:52'] }],
    ],
    ['a restart whose loss nobody saw', ['created 6s', 'recreated'], [taken, { scheduled, ready: ['True', '15:33:52'] }, { scheduled, ready: ['True', '17:33:52'] }]],
    [
      'every restart',
      ['created 6s', 'recreated 1s', 'recreated 2s'],
      [
        { scheduled, ready: ['True', '15:33:52'] }, { scheduled, ready: ['False', '16:00:00'] }, { scheduled, ready: ['True', '16:00:01'] },
        { scheduled, ready: ['False', '16:10:00'] }, { scheduled, ready: ['True', '16:10:02'] },
      ],
    ],
    ['a restart before anybody has looked, as containers ran before it', ['recreated'], [{ scheduled, ready: ['True', '17:33:52'], containers: ranOnce('15:33:53') }]],
    [
      'a restart of which only the loss was seen',
      ['recreated 6s'],
      [{ scheduled, ready: ['False', '17:33:46'], containers: [{ restartCount: 0, state: { terminated: {} } } as never] }, { scheduled, ready: ['True', '17:33:52'], containers: ranOnce('15:33:53') }],
    ],
    ['the first sandbox of a pod whose container crashed in it', ['created 6s'], [{ scheduled, ready: ['True', '15:33:52'], containers: ranOnce('15:33:53') }]],
    ['the first sandbox where the node told of it after the container had started', ['created 6s'], [{ scheduled, ready: ['True', '15:33:52'], containers: ranOnce('15:33:48') }]],
    [
      'a re-creation after a reboot before any container had started, by the reason of the node',
      ['recreated 6s'], [{ scheduled, ready: ['False', '15:33:50', 'SandboxLost'] }, { scheduled, ready: ['True', '15:33:56'] }],
    ],
    [
      'a re-creation after a reboot, by a condition that turned False long after the pod was taken',
      ['recreated 6s'], [{ scheduled, ready: ['False', '17:33:46'] }, { scheduled, ready: ['True', '17:33:52'] }],
    ],
    [
      'a re-creation after a reboot, by an init container that ended before it', ['recreated'],
      [{ scheduled, ready: ['True', '17:33:52'], containers: [{ restartCount: 0, state: { terminated: { startedAt: `${day}15:33:50Z` } } } as never] }],
    ],
    ['nothing where containers ran too often to tell which sandbox it is', [], [{ scheduled, ready: ['True', '15:33:52'], containers: ranOnce('15:50:00', 7) }]],
    [
      'a termination by the time of the request, not of the end of its grace',
      ['created 2s', 'terminated 2s'],
      [
        { scheduled: '12:33:46', ready: ['True', '12:33:48'] },
        { scheduled: '12:33:46', ready: ['True', '12:33:48'], deleted: '15:34:17', grace: 30 },
        { scheduled: '12:33:46', ready: ['False', '15:33:49'], deleted: '15:34:17', grace: 30, phase: 'Succeeded' },
        { scheduled: '12:33:46', ready: ['False', '15:33:49'], deleted: '15:33:47', grace: 0, phase: 'Succeeded' },
      ],
    ],
    ['no termination of a pod that has run to its end before', ['created 3s'], [{ scheduled, ready: ['True', '15:33:49'] }, { scheduled, ready: ['False', '15:40:00'], phase: 'Succeeded' }, { scheduled, ready: ['False', '15:40:00'], phase: 'Succeeded', deleted: '15:50:00' }]],
    ['no termination of a pod that never had a sandbox', [], [taken, { ...taken, deleted: '15:33:50' }]],
    ['no termination of a pod whose sandbox was lost before', ['created 3s'], [{ scheduled, ready: ['True', '15:33:49'] }, { scheduled, ready: ['False', '15:40:00'] }, { scheduled, ready: ['False', '15:40:00'], deleted: '15:50:00' }]],
    ['a failure that nobody saw, of a pod that is ready now', ['failed 300s', 'created 400s late'], [taken, { scheduled, ready: ['True', '15:40:26'] }]],
  ])('%s', (_, expected, saying) => expect(told(...saying)).toEqual(expected))

  const lacking = (reason: string, since = '15:33:47'): Said => ({ scheduled, ready: ['False', since, reason] })
  const first: Said = { scheduled, ready: ['True', '15:33:56'] }
  it.each<[string, string[], Said[]]>([
    ['a wait for a config map', ['created 10s by its user'], [taken, lacking('ConfigMapNotFound'), first]],
    ['a wait for a key of a secret', ['created 10s by its user'], [taken, lacking('SecretKeyNotFound'), first]],
    [
      'a wait for a key of a secret, on a node that has forgotten the pod', ['created 10s by its user'],
      [taken, { scheduled, ready: ['Unknown', '15:33:47', 'SecretKeyNotFound'] }, first],
    ],
    [
      'a wait for a config map, and then as long for the node', ['created 10s by its user'],
      [lacking('ConfigMapNotFound'), { ...taken, at: '15:33:51' }, first],
    ],
    [
      'a short wait for a config map, and then a long one for a network', ['created 9s'],
      [lacking('ConfigMapNotFound'), { ...lacking('NetworkNotReady'), at: '15:33:47' }, first],
    ],
    [
      'a wait for it by a clock that is behind', ['created 10s by its user'],
      [lacking('SecretNotFound', '15:33:40'), first],
    ],
    [
      'a failure for want of it, and a late success', ['failed 300s by its user', 'created 400s late by its user'],
      [lacking('SecretNotFound'), { scheduled, ready: ['True', '15:40:26'] }],
    ],
    [
      'a failure of the cluster, and a secret that is deleted afterwards: never both', ['failed 300s', 'created 400s late'],
      [{ ...taken, at: '15:39:00' }, { ...lacking('SecretNotFound'), at: '15:39:10' }, { scheduled, ready: ['True', '15:40:26'] }],
    ],
    [
      'a config map that came after the time was up, while nobody looked', ['failed 300s by its user', 'created 500s late by its user'],
      [lacking('ConfigMapNotFound'), { ...taken, at: '15:41:00' }, { scheduled, ready: ['True', '15:42:06'] }],
    ],
    ['a wait for a volume, which is not the fault of the user', ['created 10s'], [lacking('VolumeMountFailed'), first]],
    ['a wait for a claim, which others bind', ['created 10s'], [lacking('ClaimNotBound'), first]],
    ['a wait of which the node does not say why, as a kubelet does not', ['created 10s'], [taken, first]],
    [
      'a later sandbox that lacks it', ['created 10s', 'recreated 60s by its user'],
      [first, lacking('SecretNotFound', '16:00:00'), { scheduled, ready: ['True', '16:01:00'] }],
    ],
    [
      'a later sandbox that does not lack it any more', ['created 10s by its user', 'recreated 60s'],
      [
        lacking('SecretNotFound'), first, lacking('SandboxChanged', '16:00:00'),
        { scheduled, ready: ['True', '16:01:00'] },
      ],
    ],
  ])('whose fault it is: %s', (_, expected, saying) => expect(told(...saying)).toEqual(expected))
})

describe('endsAt() is', () => {
  const due = `${day}15:38:46.000Z`
  it.each<[string, string | undefined, Said[]]>([
    ['when the time is up', due, [taken]],
    ['the same where no node has taken the pod', due, [{ scheduled, phase: 'Pending' }]],
    ['never, before it is scheduled', undefined, [{}]],
    ['never, once it was ready', undefined, [taken, { scheduled, ready: ['True', '15:33:49'] }, { scheduled, ready: ['False', '15:33:50'] }]],
    ['the deletion, if that was before', `${day}15:35:00.000Z`, [taken, { ...taken, deleted: '15:35:30', grace: 30 }]],
    ['when the time is up, if it is deleted after', due, [taken, { ...taken, deleted: '15:39:16', grace: 30 }]],
    ['the eviction', `${day}15:34:00.000Z`, [taken, { ...taken, phase: 'Failed', evicted: '15:34:00' }]],
    ['its end, if nobody says why', `${day}15:34:10.000Z`, [taken, { ...taken, phase: 'Failed', at: '15:34:10' }]],
    ['later by the time for which a config map was absent', `${day}15:39:46.000Z`, [{ scheduled, ready: ['False', '15:33:47', 'ConfigMapNotFound'] }, { ...taken, at: '15:34:46' }]],
    ['never, if containers of it have run', undefined, [{ ...taken, containers: [{ restartCount: 2, state: {} }] }]],
  ])('%s', (_, expected, saying) => {
    const { record, view } = lived(saying)
    const atMs = endsAt(record, view, timeoutMs)
    expect(atMs === undefined ? undefined : new Date(atMs).toISOString()).toBe(expected)
  })

  it('never, on a node that takes pods and does not tell of sandboxes', () => {
    const record = newRecord()
    const view = viewOf(pod({ scheduled }))
    advance(record, view, lookAt({ scheduled }))
    expect(endsAt(record, view, timeoutMs)).toBeUndefined()
  })
})

/** A record after a pod has said all this, and its last view. */
function lived(saying: Said[], isLive = true): { record: PodRecord; view: SandboxView } {
  const record = newRecord()
  let view = viewOf(pod({}))
  for (const said of saying) {
    const seen = pod(said)
    if (!said.ready) delete seen.status!.startTime
    view = viewOf(seen)
    advance(record, view, lookAt(said, isLive))
  }
  return { record, view }
}

describe('endWait() tells', () => {
  it.each<[string, string, Said[]]>([
    ['a failure when the time is up', 'failed 300s', [taken]],
    ['who was deleted before', 'abandoned 74s', [taken, { ...taken, deleted: '15:35:30', grace: 30 }]],
    ['who was evicted before', 'abandoned 14s', [taken, { ...taken, phase: 'Failed', evicted: '15:34:00' }]],
    ['whose time was up when it was deleted', 'failed 300s', [taken, { ...taken, deleted: '15:39:16', grace: 30 }]],
    ['who was deleted while a secret was absent', 'abandoned 74s by its user', [{ scheduled, ready: ['False', '15:33:47', 'SecretNotFound'], deleted: '15:35:30', grace: 30 }]],
    ['who still lacks a secret', 'failed 300s by its user', [{ scheduled, ready: ['False', '15:33:47', 'SecretNotFound'] }]],
    ['that a secret was absent, and later a network', 'failed 300s', [{ scheduled, ready: ['False', '15:33:47', 'SecretNotFound'] }, { ...taken, at: '15:34:46' }]],
  ])('%s', (_, expected, saying) => {
    const { record, view } = lived(saying)
    expect(inShort(endWait(record, endsAt(record, view, timeoutMs)!, timeoutMs))).toBe(expected)
  })

  it('of a pod that ended unseen, no more than is known', () => {
    const { record, view } = lived([{ ...taken, phase: 'Failed', at: '17:00:00' }], false)
    expect(inShort(endWait(record, endsAt(record, view, timeoutMs)!, timeoutMs))).toBe('abandoned 1s')
  })
})

it('vanish() tells of a pod that is removed while its sandbox is still said to be ready', () => {
  const ready: Said = { scheduled, ready: ['True', '15:33:49'] }
  const at = Date.parse(`${day}15:45:00Z`)
  expect(vanish(lived([ready, { ...ready, deleted: '15:44:00' }]).record, at).map(inShort)).toEqual(['unterminated 60s'])
  expect(vanish(lived([ready]).record, at)).toEqual([])
  expect(vanish(lived([ready, { ...ready, deleted: '15:44:00' }, { scheduled, ready: ['False', '15:44:02'], deleted: '15:44:00' }]).record, at)).toEqual([])
})
