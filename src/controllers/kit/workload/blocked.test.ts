import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { type ClaimOf, blockedText, blockerOf, blockerText, troubleText } from './blocked.ts'

const since = '2026-01-01T00:00:05Z'
const created = '2026-01-01T00:00:00Z'
const condition = (type: string, status: string, over: object = {}) => ({ type, status, lastTransitionTime: since, ...over })
const pod = (status: object, over: { name?: string; metadata?: object; spec?: object } = {}): Pod =>
  ({ metadata: { name: over.name ?? 'web-1', creationTimestamp: created, ...over.metadata }, spec: { nodeName: 'n', ...over.spec }, status }) as unknown as Pod
const unready = condition('Ready', 'False')
const container = (state: object, over: object = {}) => ({ name: 'nginx', state, lastState: {}, ready: false, restartCount: 0, ...over })
const waiting = (reason: string, message?: string, over: object = {}) =>
  pod({ phase: 'Pending', conditions: [unready], containerStatuses: [container({ waiting: { reason, message } }, over)] })
const unschedulable = '0/3 nodes are available: 3 Insufficient cpu.'

describe('what keeps a pod', () => {
  it.each<[string, Pod, string, boolean]>([
    ['image', waiting('ErrImagePull', 'not found'), `waits for container "nginx": ErrImagePull (not found), since ${since}`, true],
    ['crash', waiting('CrashLoopBackOff', 'back-off 10s', { lastState: { terminated: { exitCode: 3 } }, restartCount: 2 }),
      `waits for container "nginx": CrashLoopBackOff (back-off 10s); it ended with 3 and was restarted 2 times, since ${since}`, true],
    ['unknown config map', waiting('CreateContainerConfigError', 'configmap "x" not found'),
      `waits for container "nginx": CreateContainerConfigError (configmap "x" not found), since ${since}`, true],
    ['start', waiting('ContainerCreating'), `waits for its containers to start, since ${since}`, false],
    ['init container', pod({ conditions: [unready], initContainerStatuses: [container({ terminated: { exitCode: 1, reason: 'Error' } })] }),
      `waits for container "nginx": it ended with 1: Error, since ${since}`, true],
    ['readiness', pod({ phase: 'Running', conditions: [unready], containerStatuses: [container({ running: {} })] }),
      `waits for the readiness of container "nginx", since ${since}`, true],
    ['readiness gate', pod({ phase: 'Running', conditions: [unready], containerStatuses: [container({ running: {} }, { ready: true })] }, { spec: { readinessGates: [{ conditionType: 'lb' }] } }),
      `waits for its readiness gate lb, since ${since}`, true],
    ['no room', pod({ conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message: unschedulable })] }, { spec: { nodeName: undefined } }),
      `cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu, since ${since}`, true],
    ['gates', pod({ conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })] }, { spec: { nodeName: undefined } }),
      `is held back by its scheduling gates, since ${since}`, true],
    ['no scheduler', pod({}, { spec: { nodeName: undefined } }), `waits for a node, since ${created}`, false],
    ['sandbox', pod({ conditions: [condition('PodReadyToStartContainers', 'False')] }), `waits for its sandbox, since ${since}`, false],
    ['sandbox with a reason', pod({ conditions: [condition('PodReadyToStartContainers', 'False', { message: 'no IP address left.' })] }),
      `waits for its sandbox: no IP address left, since ${since}`, true],
    ['failure', pod({ phase: 'Failed', reason: 'Evicted', conditions: [unready] }), `has failed: Evicted, since ${since}`, true],
    ['end', pod({ phase: 'Succeeded' }), 'has ended', true],
    ['deletion', pod({ phase: 'Running' }, { metadata: { deletionTimestamp: since } }), `is being deleted, since ${since}`, false],
    ['node', pod({ phase: 'Running', conditions: [unready], containerStatuses: [container({ running: {} }, { ready: true })] }), `is not ready, since ${since}`, false],
  ])('%s', (_, p, why, isTrouble) => {
    const blocker = blockerOf([p])!
    expect(blockerText(blocker)).toBe(`pod web-1 ${why}`)
    expect(blocker.isTrouble).toBe(isTrouble)
  })
})

describe('a claim that a pod waits for', () => {
  const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data-web-1' } }]
  const claiming = (status: object = { phase: 'Pending' }) => pod(status, { spec: { nodeName: undefined, volumes } })
  const full = condition('PodScheduled', 'False', { reason: 'Unschedulable', message: unschedulable })
  const claim = (phase: string): ClaimOf => () => ({ status: { phase } }) as PersistentVolumeClaim
  it.each<[string, Pod, ClaimOf | undefined, string]>([
    ['is missing', claiming(), () => undefined, `waits for claim data-web-1, which does not exist, since ${created}`],
    ['is not bound', claiming(), claim('Pending'), `waits for claim data-web-1, which is not bound, since ${created}`],
    ['is not bound, and the scheduler says why', claiming({ conditions: [full] }), claim('Pending'),
      `waits for claim data-web-1, which is not bound: 0/3 nodes are available: 3 Insufficient cpu, since ${since}`],
    ['is lost', claiming(), claim('Lost'), `waits for claim data-web-1, which is lost, since ${created}`],
    ['is bound: something else is the matter', claiming(), claim('Bound'), `waits for a node, since ${created}`],
    ['is made for the pod alone', pod({}, { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } }), () => undefined, `waits for claim web-1-scratch, which does not exist, since ${created}`],
    ['is nobody\'s business who does not say which claims there are', claiming(), undefined, `waits for a node, since ${created}`],
    ['does not keep a pod that runs', pod({ phase: 'Running', conditions: [unready] }, { spec: { volumes } }), claim('Lost'), `waits for its containers to start, since ${since}`],
  ])('%s', (_, p, claimOf, why) => {
    expect(blockerText(blockerOf([p], claimOf)!)).toBe(`pod web-1 ${why}`)
  })
})

describe('of several pods', () => {
  const good = pod({ conditions: [condition('Ready', 'True')] }, { name: 'a' })
  const slow = pod({}, { name: 'b', spec: { nodeName: undefined } })
  const bad = (name: string) => ({ ...waiting('ErrImagePull'), metadata: { name } }) as Pod
  it.each<[string, Pod[], string | undefined]>([
    ['none is named that is ready', [good], undefined],
    ['trouble is named first', [good, slow, bad('c')], 'c'],
    ['of two in trouble the first by name', [bad('d'), bad('c'), slow], 'c'],
    ['without trouble who is on the way', [good, slow], 'b'],
  ])('%s', (_, pods, name) => {
    expect(blockerOf(pods)?.pod).toBe(name)
  })

  it('troubleText() is silent about what is on its way, blockedText() is not', () => {
    expect(troubleText([good, slow])).toBe('')
    expect(blockedText([good, slow])).toBe(` Pod b waits for a node, since ${created}.`)
    expect(troubleText([bad('c')])).toBe(` Pod c waits for container "nginx": ErrImagePull, since ${since}.`)
    expect(blockedText([good])).toBe('')
  })
})
