import { describe, expect, it } from 'vitest'
import type { Pod, PodCondition, PodStatus } from '../../api/generated/types.ts'
import { inPlaceUpdateReady, shutGate, stateAnnotation } from '../../api/kinds/pods/in-place-update.ts'
import { sampleContainer as container, samplePod, sampleSandbox, sampleState as state } from '../sample-pod.ts'
import { resourcesAnnotation } from '../runtime/labels.ts'
import { type Seen, generateStatus } from './generate-status.ts'

const noon = Date.parse('2026-01-01T12:00:00Z')

const seen = (more: Partial<Seen> = {}): Seen => ({
  pod: samplePod(),
  old: {},
  state: state([container('app')]),
  runtimeName: 'test',
  waiting: new Map(),
  health: { isStarted: () => true, isReady: () => true },
  isEnding: false,
  hasEnded: false,
  verdict: undefined,
  hostIps: ['192.168.0.1'],
  nowMs: noon,
  tellsSandbox: true,
  failure: undefined,
  hasVolumes: true,
  isVouchedFor: true,
  isFirst: false,
  ...more,
})

const said = (status: PodStatus, type: string) => status.conditions?.find((c) => c.type === type)
const exited = (exitCode: number) => container('app', { state: 'exited', exitCode, finishedAtMs: noon, reason: exitCode === 0 ? 'Completed' : 'Error' })
const policy = (restartPolicy: string): Pod => samplePod({ restartPolicy })

const verdict = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' } as const

describe('generateStatus() of a pod whose resources were changed', () => {
  const sized = (cpu: string) => ({ requests: { cpu } })
  const pod = samplePod({ containers: [{ name: 'app', image: 'app:1', resources: sized('2') }] })
  const createdWith = (cpu: string) => state([container('app', { annotations: { [resourcesAnnotation]: JSON.stringify(sized(cpu)) } })])

  it('has the resources with which the container was created, and says that they stay', () => {
    const status = generateStatus(seen({ pod, state: createdWith('1') }))
    expect(status.containerStatuses?.[0]?.resources).toEqual(sized('1'))
    expect(said(status, 'PodResizePending')).toMatchObject({ status: 'True', reason: 'Infeasible', message: expect.stringContaining('[app]') })
  })

  it.each<[string, Partial<Seen>]>([
    ['was created with them', { state: createdWith('2') }],
    ['was created by an agent that did not record them', {}],
    ['has been created anew', { state: state([container('app', createdWith('2').containers[0], 1), createdWith('1').containers[0]!]) }],
  ])('says nothing if the container %s', (_, more) => {
    const status = generateStatus(seen({ pod, ...more }))
    expect(status.containerStatuses?.[0]?.resources).toEqual(sized('2'))
    expect(said(status, 'PodResizePending')).toBeUndefined()
  })
})

describe('generateStatus()', () => {
  it.each<[string, Partial<Seen>, string]>([
    ['nothing has been done yet', { state: state([], []) }, 'Pending'],
    ['its container runs', {}, 'Running'],
    ['its container is started again', { state: state([exited(1)]) }, 'Running'],
    ['it has ended well', { pod: policy('Never'), state: state([exited(0)]) }, 'Succeeded'],
    ['it has ended badly', { pod: policy('Never'), state: state([exited(1)]) }, 'Failed'],
    ['it failed, and is tried again', { pod: policy('OnFailure'), state: state([exited(1)]) }, 'Running'],
    ['it is ended, though it would be restarted', { state: state([exited(0)]), isEnding: true }, 'Succeeded'],
    ['it was judged, and has ended', { verdict, state: state([exited(0)]), isEnding: true }, 'Failed'],
    ['it was judged, and still runs', { verdict, isEnding: true }, 'Running'],
    ['it has ended before', { old: { phase: 'Failed' }, state: state([], []) }, 'Failed'],
  ])('when %s, tells the phase', (_, more, phase) => {
    expect(generateStatus(seen(more)).phase).toBe(phase)
  })

  const failure = { reason: 'NetworkNotReady', message: 'no address' } as const
  const broken = state([exited(1)], [sampleSandbox({ state: 'notReady' })])
  const known = (...conditions: Partial<PodCondition>[]): PodStatus =>
    ({ conditions: conditions.map((c) => ({ type: 'PodReadyToStartContainers', ...c }) as PodCondition) })
  it.each<[string, Partial<Seen>, string]>([
    ['True with sandbox, network and volumes', {}, 'True'],
    ['True without the failure of an attempt before', { failure }, 'True'],
    ['False before there is a sandbox', { state: state([], []) }, 'False'],
    ['False without volumes', { hasVolumes: false, isEnding: true }, 'False'],
    ['False with the failure of the last attempt', { state: state([], []), failure }, 'False NetworkNotReady'],
    ['False, since the sandbox is not ready any more', { state: broken }, 'False SandboxChanged'],
    ['False, and cannot be made anew', { state: broken, failure }, 'False NetworkNotReady'],
    [
      'False, since the machine has lost the sandbox', { state: state([], []), old: known({ status: 'True' }) },
      'False SandboxLost',
    ],
    [
      'False, and has been lost since before',
      { state: state([], []), old: known({ status: 'False', reason: 'SandboxLost' }) }, 'False SandboxLost',
    ],
    [
      'False, and a container of the lost one was told of', { state: state([], []), old: generateStatus(seen()) },
      'False SandboxLost',
    ],
    ['False as the pod ends', { state: broken, isEnding: true, failure }, 'False'],
    ['False as the pod has ended', { pod: policy('Never'), state: broken }, 'False'],
    ['False as the pod is judged', { state: state([], []), isEnding: true, verdict, failure }, 'False'],
    ['not there with its gate off', { tellsSandbox: false }, ''],
  ])('PodReadyToStartContainers is %s', (_, more, expected) => {
    const { status = '', reason, message } = said(generateStatus(seen(more)), 'PodReadyToStartContainers') ?? {}
    expect([status, ...(reason ? [reason] : [])].join(' ')).toBe(expected)
    expect(message === undefined).toBe(reason === undefined)
  })

  describe('of a pod that was updated in place', () => {
    const note = JSON.stringify({ revision: 'web-2', lastContainerStatuses: { app: { imageID: 'of app:1' } } })
    const updated = (shutFor: string): Pod => ({
      ...samplePod({ containers: [{ name: 'app', image: 'app:2' }], readinessGates: [{ conditionType: inPlaceUpdateReady }] }, { annotations: { [stateAnnotation]: note } }),
      status: { conditions: [shutGate(shutFor)] },
    })
    const runs = (image: string) => state([container('app', { image, imageRef: `of ${image}` })])
    const statusIn = (more: Partial<Seen>) => generateStatus(seen({ pod: updated('web-2'), state: runs('app:2'), ...more }))

    it('opens its gate, and says that it is ready in the same breath', () => {
      const status = statusIn({})
      expect(said(status, inPlaceUpdateReady)).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' })
      expect(said(status, 'Ready')?.status).toBe('True')
    })

    it('opens its gate before its containers are ready', () => {
      const status = statusIn({ health: { isStarted: () => true, isReady: () => false } })
      expect(said(status, inPlaceUpdateReady)?.status).toBe('True')
      expect(said(status, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' })
    })

    it.each<[string, Partial<Seen>]>([
      ['is being ended', { isEnding: true }],
      ['has the old container', { state: runs('app:1') }],
      ['has the new one, which does not run yet', { state: state([container('app', { image: 'app:2', imageRef: 'of app:2', state: 'created' })]) }],
      ['waits for another update', { pod: updated('web-3') }],
    ])('says nothing of its gate if it %s', (_, more) => {
      expect(said(statusIn(more), inPlaceUpdateReady)).toBeUndefined()
      expect(said(statusIn(more), 'Ready')?.status).toBe('False')
    })
  })

  it('moves the time of a condition exactly when its status turns', () => {
    const first = generateStatus(seen({ state: state([], []) }))
    const later = generateStatus(seen({ old: first, state: state([], []), nowMs: noon + 60_000 }))
    expect(later).toEqual(first)
    const failed = generateStatus(seen({ old: first, state: state([], []), failure, nowMs: noon + 60_000 }))
    expect(said(failed, 'PodReadyToStartContainers')).toMatchObject(
      { ...failure, lastTransitionTime: '2026-01-01T12:00:00Z' }
    )
    const turned = generateStatus(seen({ old: later, nowMs: noon + 120_000 }))
    expect(said(turned, 'PodReadyToStartContainers')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:02:00Z' })
    expect(said(turned, 'Initialized')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' })
  })

  it('tells a container that waits with its last end', () => {
    const waiting = new Map([['app', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]])
    const [status] = generateStatus(seen({ state: state([exited(3)]), waiting })).containerStatuses!
    expect(status).toMatchObject({ ready: false, started: false, state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } }, lastState: { terminated: { exitCode: 3 } } })
  })

  it('tells that a container is lost of which nobody knows any more', () => {
    const old = generateStatus(seen())
    const [status] = generateStatus(seen({ old, state: state([], []) })).containerStatuses!
    expect(status).toMatchObject({ state: { waiting: { reason: 'ContainerCreating' } }, lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } })
    expect(generateStatus(seen({ old, pod: policy('Never'), state: state([], []) })).phase).toBe('Failed')
  })

  it('names the containers that are not ready', () => {
    const status = generateStatus(seen({ health: { isStarted: () => true, isReady: () => false } }))
    expect(said(status, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [app]' })
  })
})

describe('generateStatus() of a pod that has ended', () => {
  const lost = { exitCode: 137, reason: 'ContainerStatusUnknown' }
  const withInit = samplePod({ initContainers: [{ name: 'first', image: 'app' }, { name: 'second', image: 'app' }] })
  const withSidecar = samplePod({ initContainers: [{ name: 'first', image: 'app', restartPolicy: 'Always' }] })
  const initDone = (name: string, exitCode = 0) => container(name, { state: 'exited', exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' })
  const ended = { isEnding: true, hasEnded: true, hasVolumes: false }
  const wait = new Map([['app', { reason: 'ImagePullBackOff', message: 'no' }]])
  it.each<[string, Partial<Seen>, string]>([
    ['before anything was done', { state: state([], []) }, 'Failed app:ContainerStatusUnknown'],
    ['evicted', { state: state([], []), verdict: { ...verdict, reason: 'Evicted' } }, 'Failed app:ContainerStatusUnknown'],
    ['while its image was not to be had', { state: state([]), waiting: wait }, 'Failed app:ContainerStatusUnknown'],
    ['before its first init container', { pod: withInit, state: state([], []) }, 'Failed first:ContainerStatusUnknown second:PodInitializing app:PodInitializing'],
    ['before its second one', { pod: withInit, state: state([initDone('first')]) }, 'Failed first:Completed second:PodInitializing app:PodInitializing'],
    ['after its second one failed', { pod: withInit, state: state([initDone('first'), initDone('second', 1)]) }, 'Failed first:Completed second:Error app:PodInitializing'],
    ['after its init containers', { pod: withInit, state: state([initDone('first'), initDone('second')]) }, 'Failed first:Completed second:Completed app:ContainerStatusUnknown'],
    ['before its sidecar', { pod: withSidecar, state: state([], []) }, 'Failed first:ContainerStatusUnknown app:PodInitializing'],
    ['well', { state: state([exited(0)]) }, 'Succeeded app:Completed'],
  ])('%s', (_, more, expected) => {
    const { phase, initContainerStatuses = [], containerStatuses = [] } = generateStatus(seen({ ...ended, ...more }))
    const all = [...initContainerStatuses, ...containerStatuses].map(({ name, state: { terminated, waiting } }) => `${name}:${(terminated ?? waiting)?.reason}`)
    expect([phase, ...all].join(' ')).toBe(expected)
  })

  it('tells how a container ended that never was, and is not sure after a loss of memory that it never was', () => {
    const old = generateStatus(seen({ ...ended, state: state([], []) }))
    expect(old.containerStatuses![0]).toMatchObject({ state: { terminated: lost }, restartCount: 0, ready: false })
    const after = generateStatus(seen({ ...ended, old, isVouchedFor: false, state: state([], []) }))
    expect(said(after, 'PodReadyToStartContainers')?.status).toBe('Unknown')
  })

  it('leaves containers that wait as they are until then', () => {
    const [status] = generateStatus(seen({ isEnding: true, state: state([], []) })).containerStatuses!
    expect(status!.state).toEqual({ waiting: { reason: 'ContainerCreating' } })
  })
})

describe('generateStatus() on a node that has lost its memory', () => {
  const at = (seconds: number): string => `2026-01-01T12:00:${String(seconds).padStart(2, '0')}Z`
  const old = (status: string, seconds: number, more: object = {}): PodStatus =>
    ({ startTime: at(0), conditions: [{ type: 'PodReadyToStartContainers', status, lastTransitionTime: at(seconds) }], ...more })
  const ran = { containerStatuses: [{ name: 'app', image: '', imageID: '', ready: false, restartCount: 0, state: { running: {} }, lastState: {} }] }
  const failure = { reason: 'VolumeMountFailed', message: 'no' } as const
  it.each<[string, Partial<Seen>, string]>([
    ['cannot vouch for a pod that was taken before', { old: old('False', 0) }, 'Unknown SandboxHistoryUnknown'],
    ['nor where the condition was not written', { old: { startTime: at(0) } }, 'Unknown SandboxHistoryUnknown'],
    ['still says why the pod does not start', { old: old('False', 1), failure }, 'Unknown VolumeMountFailed'],
    ['stays so until there is a sandbox', { old: old('Unknown', 9) }, 'Unknown SandboxHistoryUnknown'],
    ['knows of a sandbox that was told', { old: old('True', 5) }, 'False SandboxLost'],
    ['knows of one that was told and lost', { old: old('False', 5), failure }, 'False VolumeMountFailed'],
    ['knows of containers that were told', { old: old('False', 0, ran) }, 'False SandboxLost'],
    ['does not vouch for what ends, either', { old: old('False', 0), isEnding: true }, 'Unknown SandboxHistoryUnknown'],
    ['knows of a sandbox that it has', { old: old('Unknown', 9), state: state([]) }, 'True'],
    ['that remembers says False', { old: old('False', 0), isVouchedFor: true }, 'False'],
  ])('%s', (_, more, wanted) => {
    const { status, reason } = said(generateStatus(seen({ state: state([], []), isVouchedFor: false, ...more })), 'PodReadyToStartContainers')!
    expect([status, reason].filter(Boolean).join(' ')).toBe(wanted)
  })
})
