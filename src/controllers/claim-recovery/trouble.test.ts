import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { ago, samplePod } from './sample.ts'
import { endOf, sandboxHistory, troubleOf } from './trouble.ts'

const containers = (state: object, more: object = {}): { status: object } => ({ status: { containerStatuses: [{ name: 'main', restartCount: 0, state, lastState: {}, ...more }] } })

describe('sandboxHistory()', () => {
  it.each<[string, Pod, string]>([
    ['False since its node took it', samplePod(0), 'never'],
    ['False from the next second on', samplePod(0, { startedAt: 601 }), 'never'],
    ['True', samplePod(0, { sandbox: { status: 'True', since: 10 } }), 'ready'],
    ['False since later: it was True in between', samplePod(0, { sandbox: { status: 'False', since: 598 } }), 'ready'],
    ['it is not known since when', samplePod(0, { status: { startTime: undefined } }), 'unknown'],
    ['the node does not tell', samplePod(0, { sandbox: undefined }), 'unknown'],
    ['no node has it', samplePod(0, { sandbox: undefined, spec: { nodeName: undefined } }), 'never'],
    ['a container runs', samplePod(0, { sandbox: undefined, ...containers({ running: {} }) }), 'ready'],
    ['a container has run', samplePod(0, { sandbox: undefined, ...containers({ waiting: {} }, { lastState: { terminated: {} } }) }), 'ready'],
    ['a container was started again', samplePod(0, { sandbox: undefined, ...containers({ waiting: {} }, { restartCount: 1 }) }), 'ready'],
    ['a container has ended', samplePod(0, { sandbox: undefined, ...containers({ terminated: { exitCode: 0, reason: 'Completed' } }) }), 'ready'],
  ])('%s', (_, pod, wanted) => {
    expect(sandboxHistory(pod)).toBe(wanted)
  })

  it('is told by the condition where containers that never were have ended', () => {
    const { status } = containers({ terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } })
    const pod = samplePod(0)
    expect(sandboxHistory({ ...pod, status: { ...pod.status, ...status } } as Pod)).toBe('never')
  })
})

describe('endOf()', () => {
  const going = { deletionTimestamp: ago(10), generation: 2 }
  it.each<[string, Pod, string]>([
    ['it is not deleted', samplePod(0), 'not yet'],
    ['it has time left', samplePod(0, { metadata: { ...going, deletionGracePeriodSeconds: 30 }, status: { observedGeneration: 2 } }), 'not yet'],
    ['its node has seen the deletion, and is done', samplePod(0, { metadata: { ...going, deletionGracePeriodSeconds: 0 }, status: { observedGeneration: 2 } }), 'told'],
    ['it was forced, and its node has not seen it', samplePod(0, { metadata: { ...going, deletionGracePeriodSeconds: 0 } }), 'untold'],
    ['it has no node', samplePod(0, { metadata: { ...going, deletionGracePeriodSeconds: 0 }, spec: { nodeName: undefined } }), 'told'],
  ])('%s', (_, pod, wanted) => {
    expect(endOf(pod)).toBe(wanted)
  })
})

describe('troubleOf()', () => {
  it.each<[string, Pod, string]>([
    ['no sandbox', samplePod(0), `sandbox ${ago(600)}`],
    ['a sandbox, and never ready', samplePod(0, { sandbox: { status: 'True', since: 500 } }), `readiness ${ago(500)}`],
    ['a sandbox that came again after the pod had lost its readiness', samplePod(0, { sandbox: { status: 'True', since: 100 }, ready: { status: 'False', since: 120 } }), `readiness ${ago(100)}`],
    ['ready once, and not any more', samplePod(0, { sandbox: { status: 'True', since: 500 }, ready: { status: 'False', since: 100 } }), 'none'],
    ['ready', samplePod(0, { sandbox: { status: 'True', since: 500 }, ready: { status: 'True', since: 100 } }), 'none'],
    ['not told', samplePod(0, { sandbox: undefined }), 'none'],
    ['going', samplePod(0, { metadata: { deletionTimestamp: ago(1) } }), 'none'],
    ['over', samplePod(0, { status: { phase: 'Failed' } }), 'none'],
  ])('%s', (_, pod, wanted) => {
    const trouble = troubleOf(pod)
    expect(trouble ? `${trouble.what} ${trouble.since}` : 'none').toBe(wanted)
  })
})

describe('troubleOf() takes a pod for one that makes progress', () => {
  const spec = {
    initContainers: [{ name: 'load' }, { name: 'proxy', restartPolicy: 'Always' }],
    containers: [{ name: 'main', startupProbe: {} }],
  }
  const init = (state: object, more: object = {}) => ({ status: { ...base, initContainerStatuses: [{ name: 'load', restartCount: 0, state, lastState: {}, ...more }] } })
  const main = (more: object) => ({ status: { ...base, containerStatuses: [{ name: 'main', restartCount: 0, state: { running: {} }, lastState: {}, ...more }] } })
  const base = { conditions: [
    { type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: ago(600) },
    { type: 'Ready', status: 'False', lastTransitionTime: ago(601) },
  ] }
  const ended = (exitCode: number, seconds: number) => ({ terminated: { exitCode, finishedAt: ago(seconds) } })
  const proxy = { status: { ...base, initContainerStatuses: [{ name: 'proxy', restartCount: 0, started: true, state: { running: {} }, lastState: {} }] } }
  it.each<[string, object, string | undefined]>([
    ['while an init container runs', init({ running: {} }), undefined],
    ['while one runs that failed before', init({ running: {} }, { restartCount: 2 }), undefined],
    ['until the last one has ended well', init(ended(0, 30)), ago(30)],
    ['not when it fails', init(ended(1, 30)), ago(600)],
    ['not while it waits', init({ waiting: {} }), ago(600)],
    ['not for a sidecar, which always runs', proxy, ago(600)],
    ['while it starts up for the first time', main({ started: false }), undefined],
    ['not when it has to start again', main({ started: false, restartCount: 1 }), ago(600)],
    ['not when it has started', main({ started: true }), ago(600)],
  ])('%s', (_, over, since) => {
    expect(troubleOf(samplePod(0, { spec, ...over }))?.since).toBe(since)
  })

  it('and waits for a sandbox also where the node cannot vouch for the past', () => {
    const status = { conditions: [{ type: 'PodReadyToStartContainers', status: 'Unknown', lastTransitionTime: ago(60) }] }
    expect(troubleOf(samplePod(0, { status }))).toEqual({ what: 'sandbox', since: ago(60) })
  })
})
