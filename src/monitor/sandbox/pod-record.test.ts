import { describe, expect, it } from 'vitest'
import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { sandboxConditionType } from '../../api/kinds/sandbox-condition.ts'
import { advance, failsAt, newRecord } from './pod-record.ts'
import { viewOf } from './sandbox-view.ts'

const day = '2022-12-06T'

interface Said {
  scheduled?: string
  /** Status, time and reason. */
  ready?: ['True' | 'False', string, string?]
  deleted?: string
  grace?: number
  phase?: string
  containers?: Partial<ContainerStatus>[]
}

/** A pod that says so, with times of day. */
function pod({ scheduled, ready, deleted, grace, phase = 'Pending', containers = [] }: Said): Pod {
  const [status, since, reason] = ready ?? []
  const conditions = [
    ...(ready ? [{ type: sandboxConditionType, status, lastTransitionTime: `${day}${since}Z`, reason }] : []),
    ...(scheduled ? [{ type: 'PodScheduled', status: 'True', lastTransitionTime: `${day}${scheduled}Z` }] : []),
  ]
  const deletion = deleted ? { deletionTimestamp: `${day}${deleted}Z`, deletionGracePeriodSeconds: grace ?? 0 } : {}
  return { metadata: { uid: 'u', ...deletion }, spec: {}, status: { phase, startTime: `${day}15:33:47Z`, conditions, containerStatuses: containers } } as unknown as Pod
}

const timeoutMs = 300_000

/** What is told of a pod that says one thing after the other. */
function told(...saying: Said[]): string[] {
  const record = newRecord()
  return saying.flatMap((said) =>
    advance(record, viewOf(pod(said)), timeoutMs).map(({ kind, latencyMs, isLate, isUserError }) =>
      [
        kind, ...(latencyMs === undefined ? [] : [`${latencyMs / 1000}s`]), ...(isLate ? ['late'] : []),
        ...(isUserError ? ['by its user'] : []),
      ].join(' ')),
  )
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
      'a wait for a config map, and then for a network', ['created 10s by its user'],
      [lacking('ConfigMapNotFound'), lacking('NetworkNotReady'), first],
    ],
    [
      'a wait for it by a clock that is behind', ['created 10s by its user'],
      [lacking('SecretNotFound', '15:33:40'), first],
    ],
    [
      'a failure for want of it, and a late success', ['failed 300s by its user', 'created 400s late by its user'],
      [lacking('SecretNotFound'), { scheduled, ready: ['True', '15:40:26'] }],
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

describe('failsAt() is', () => {
  const due = `${day}15:38:46.000Z`
  it.each<[string, string | undefined, Said[]]>([
    ['when the time is up', due, [taken]],
    ['the same where no node has taken the pod', due, [{ scheduled, phase: 'Pending' }]],
    ['never, before it is scheduled', undefined, [{}]],
    ['never, once it was ready', undefined, [taken, { scheduled, ready: ['True', '15:33:49'] }, { scheduled, ready: ['False', '15:33:50'] }]],
    ['never, if it is deleted before', undefined, [taken, { ...taken, deleted: '15:35:30', grace: 30 }]],
    ['when the time is up, if it is deleted after', due, [taken, { ...taken, deleted: '15:39:16', grace: 30 }]],
    ['never, if it has run to its end', undefined, [{ ...taken, phase: 'Failed' }]],
    ['never, if containers of it have run', undefined, [{ ...taken, containers: [{ restartCount: 2, state: {} }] }]],
  ])('%s', (_, expected, saying) => {
    const record = newRecord()
    const views = saying.map((said) => {
      const seen = pod(said)
      if (!said.ready) delete seen.status!.startTime
      return viewOf(seen)
    })
    for (const view of views) advance(record, view, timeoutMs)
    const atMs = failsAt(record, views.at(-1)!, timeoutMs)
    expect(atMs === undefined ? undefined : new Date(atMs).toISOString()).toBe(expected)
  })

  it('never, on a node that takes pods and does not tell of sandboxes', () => {
    const record = newRecord()
    const view = viewOf(pod({ scheduled }))
    advance(record, view, timeoutMs)
    expect(failsAt(record, view, timeoutMs)).toBeUndefined()
  })
})
