import { describe, expect, it } from 'vitest'
import { readinessGatesText, restartsText, summarizePod } from './pod-summary.ts'
import { samplePod } from './sample-pod.ts'

const now = Date.parse('2026-01-01T00:10:00Z')

const status = (name: string, state: object, more: object = {}) => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
const ready = (name: string, more: object = {}) => status(name, { running: {} }, { ready: true, started: true, ...more })
const waits = (name: string, reason: string) => status(name, { waiting: { reason } })
const ends = (name: string, terminated: object) => status(name, { terminated })
const completed = (name: string) => ends(name, { exitCode: 0, reason: 'Completed' })
const isReady = [{ type: 'Ready', status: 'True' }]

const two = { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'i' }] }
const inits = { initContainers: [{ name: 'x', image: 'i' }, { name: 'y', image: 'i' }] }
const sidecar = { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] }
const gone = { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' } }

interface Row {
  name: string
  spec?: Record<string, unknown>
  rest?: Record<string, unknown>
  is: Record<string, unknown>
  shows: [string, string]
}

const rows: Row[] = [
  { name: 'a new pod', is: { phase: 'Pending' }, shows: ['0/1', 'Pending'] },
  {
    name: 'a gated pod',
    is: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    shows: ['0/1', 'SchedulingGated'],
  },
  {
    name: 'one of two ready',
    spec: two,
    is: { phase: 'Running', containerStatuses: [ready('c'), waits('d', 'ContainerCreating')] },
    shows: ['1/2', 'ContainerCreating'],
  },
  {
    name: 'two that wait: the first is shown',
    spec: two,
    is: { phase: 'Pending', containerStatuses: [waits('c', 'ErrImagePull'), waits('d', 'CrashLoopBackOff')] },
    shows: ['0/2', 'ErrImagePull'],
  },
  { name: 'completed', is: { phase: 'Succeeded', containerStatuses: [completed('c')] }, shows: ['0/1', 'Completed'] },
  {
    name: 'completed beside one that runs',
    spec: two,
    is: { phase: 'Running', conditions: isReady, containerStatuses: [completed('c'), ready('d')] },
    shows: ['1/2', 'Running'],
  },
  {
    name: 'completed beside one that runs, not ready',
    spec: two,
    is: { phase: 'Running', containerStatuses: [completed('c'), ready('d')] },
    shows: ['1/2', 'NotReady'],
  },
  {
    name: 'completed beside one that failed',
    spec: two,
    is: { phase: 'Failed', containerStatuses: [completed('c'), ends('d', { exitCode: 2, reason: 'Error' })] },
    shows: ['0/2', 'Error'],
  },
  {
    name: 'a signal without reason',
    is: { phase: 'Failed', containerStatuses: [ends('c', { exitCode: 137, signal: 9 })] },
    shows: ['0/1', 'Signal:9'],
  },
  {
    name: 'an exit code without reason',
    is: { phase: 'Failed', containerStatuses: [ends('c', { exitCode: 3 })] },
    shows: ['0/1', 'ExitCode:3'],
  },
  { name: 'a reason of the pod', is: { phase: 'Failed', reason: 'Evicted' }, shows: ['0/1', 'Evicted'] },
  {
    name: 'the second init container',
    spec: inits,
    is: { phase: 'Pending', initContainerStatuses: [completed('x'), status('y', { running: {} })] },
    shows: ['0/1', 'Init:1/2'],
  },
  {
    name: 'an init container that crashes',
    spec: inits,
    is: { phase: 'Pending', initContainerStatuses: [waits('x', 'CrashLoopBackOff')] },
    shows: ['0/1', 'Init:CrashLoopBackOff'],
  },
  {
    name: 'an init container that failed',
    spec: inits,
    is: { phase: 'Pending', initContainerStatuses: [ends('x', { exitCode: 5 })] },
    shows: ['0/1', 'Init:ExitCode:5'],
  },
  {
    name: 'init containers done',
    spec: inits,
    is: {
      phase: 'Pending',
      initContainerStatuses: [completed('x'), completed('y')],
      containerStatuses: [waits('c', 'PodInitializing')],
    },
    shows: ['0/1', 'PodInitializing'],
  },
  {
    name: 'a sidecar',
    spec: sidecar,
    is: { phase: 'Running', initContainerStatuses: [ready('s')], containerStatuses: [ready('c')] },
    shows: ['2/2', 'Running'],
  },
  {
    name: 'a sidecar that has not started',
    spec: sidecar,
    is: { phase: 'Pending', initContainerStatuses: [status('s', { running: {} }, { started: false })] },
    shows: ['0/2', 'Init:0/1'],
  },
  { name: 'being deleted', rest: gone, is: { phase: 'Running' }, shows: ['0/1', 'Terminating'] },
  { name: 'being deleted on a lost node', rest: gone, is: { phase: 'Running', reason: 'NodeLost' }, shows: ['0/1', 'Unknown'] },
  { name: 'finished while being deleted', rest: gone, is: { phase: 'Succeeded' }, shows: ['0/1', 'Succeeded'] },
]

describe('summarizePod()', () => {
  it.each(rows)('$name', ({ spec, rest, is, shows }) => {
    const summary = summarizePod(samplePod(spec, { ...rest, status: is }))
    expect([`${summary.ready}/${summary.containers}`, summary.status]).toEqual(shows)
  })

  it.each([
    { name: 'none', containerStatuses: [ready('c')], text: '0' },
    { name: 'some, of which it is not known when', containerStatuses: [ready('c', { restartCount: 3 })], text: '3' },
    {
      name: 'some, the last five minutes ago',
      containerStatuses: [
        ready('c', { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:05:00Z' } } }),
      ],
      text: '3 (5m ago)',
    },
  ])('restarts: $name', ({ containerStatuses, text }) => {
    expect(restartsText(summarizePod(samplePod({}, { status: { phase: 'Running', containerStatuses } })), now)).toBe(text)
  })

  it('counts the restarts of init containers only until they are done', () => {
    const initContainerStatuses = [status('x', { waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 7 })]
    expect(summarizePod(samplePod(inits, { status: { phase: 'Pending', initContainerStatuses } })).restarts).toBe(7)
    const done = [{ ...completed('x'), restartCount: 7 }, completed('y')]
    expect(summarizePod(samplePod(inits, { status: { phase: 'Running', initContainerStatuses: done, containerStatuses: [ready('c')] } })).restarts).toBe(0)
  })
})

describe('readinessGatesText()', () => {
  it('counts the conditions that have come true', () => {
    const gates = { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] }
    expect(readinessGatesText(samplePod(gates, { status: { conditions: [{ type: 'a', status: 'True' }, { type: 'b', status: 'False' }] } }))).toBe('1/2')
    expect(readinessGatesText(samplePod())).toBe('<none>')
  })
})
