import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Pod } from '../generated/types.ts'
import { sentenceOf } from './cause.ts'
import { type Surroundings, causeOfPod } from './pod-cause.ts'
import { at, claimOf, nodeOf, timeAt } from './sample.ts'

const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const time = fc.integer({ min: 0, max: 200 }).map(timeAt)
const words = fc.constantFrom('no luck', 'no luck.', '', 'ErrImagePull: no luck', 'Back-off again')
const truth = fc.constantFrom('True', 'False', 'Unknown')
const label = (...names: string[]) => fc.constantFrom(...names)

const reason = fc.constantFrom(
  'ContainerCreating', 'PodInitializing', 'ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'CrashLoopBackOff',
  'CreateContainerConfigError', 'RunContainerError', 'Odd', undefined,
)
const end = fc.record(
  {
    exitCode: fc.constantFrom(0, 1, 137), reason: sometimes(label('Error', 'Completed', 'OOMKilled')),
    message: sometimes(words),
  },
)
const state = fc.oneof(
  fc.constant({}), fc.constant({ running: {} }), end.map((terminated) => ({ terminated })),
  fc.record({ reason, message: sometimes(words) }).map((waiting) => ({ waiting })),
)
const containerStatus = (...names: string[]) =>
  fc.record({
    name: label(...names), image: fc.constant('app:1'), ready: fc.boolean(), started: sometimes(fc.boolean()),
    restartCount: fc.nat(3), state: sometimes(state), lastState: sometimes(end.map((terminated) => ({ terminated }))),
  })
const probe = fc.constantFrom(
  { httpGet: { port: 80, path: '/' } }, { tcpSocket: { port: 1 } }, { grpc: { port: 2 } },
  { exec: { command: ['ls'] } }, {},
)
const container = (name: string) =>
  fc.record(
    {
      name: fc.constant(name), image: sometimes(fc.constant('app:1')), readinessProbe: sometimes(probe),
      startupProbe: sometimes(probe),
    },
  )

const condition = fc.record({
  type: label('Ready', 'PodScheduled', 'PodReadyToStartContainers', 'example.com/gate', 'InPlaceUpdateReady'),
  status: truth,
  reason: sometimes(label('Unschedulable', 'SchedulingGated', 'ConfigMapNotFound', 'SandboxCreateFailed', 'Odd')),
  message: sometimes(words),
  lastTransitionTime: sometimes(time),
})

const pod = fc.record({
  metadata: fc.record({
    name: fc.constant('web-1'),
    creationTimestamp: sometimes(time),
    deletionTimestamp: fc.option(time, { nil: undefined, freq: 3 }),
    deletionGracePeriodSeconds: sometimes(fc.constantFrom(0, 30)),
    finalizers: sometimes(fc.uniqueArray(label('a/b', 'c/d'))),
    labels: sometimes(
      fc.record(
        { 'lifecycle.apps.kruise.io/state': label('Normal', 'PreparingDelete', 'Updating', 'Updated', 'Odd', '') },
      ),
    ),
  }),
  spec: sometimes(fc.record({
    nodeName: sometimes(fc.constant('n1')),
    containers: fc.tuple(container('main'), container('proxy')),
    initContainers: sometimes(fc.tuple(container('setup'))),
    schedulingGates: sometimes(fc.constant([{ name: 'held' }])),
    readinessGates: sometimes(
      fc.uniqueArray(label('example.com/gate', 'InPlaceUpdateReady')).map(
        (all) => all.map((conditionType) => ({ conditionType })),
      ),
    ),
    volumes: sometimes(
      fc.constantFrom(
        [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }], [{ name: 'v', ephemeral: {} }], [{ name: 'v' }],
      ),
    ),
  })),
  status: sometimes(fc.record({
    phase: sometimes(label('Pending', 'Running', 'Running', 'Succeeded', 'Failed', 'Unknown')),
    reason: sometimes(label('Evicted', 'NodeShutdown', 'Odd')),
    message: sometimes(words),
    conditions: sometimes(fc.uniqueArray(condition, { selector: ({ type }) => type })),
    containerStatuses: sometimes(fc.array(containerStatus('main', 'proxy'), { maxLength: 2 })),
    initContainerStatuses: sometimes(fc.array(containerStatus('setup'), { maxLength: 1 })),
  })),
}) as unknown as fc.Arbitrary<Pod>

const surroundings: fc.Arbitrary<Surroundings> = fc.record({
  nowMs: fc.integer({ min: 0, max: 250 }).map(at),
  minReadySeconds: fc.constantFrom(0, 0, 30),
  runsToCompletion: fc.boolean(),
  claimOf: sometimes(label('Bound', 'Pending', 'Lost', '').map((phase) => () => (phase ? claimOf(phase) : undefined))),
  nodeOf: sometimes(
    label('True', 'False', 'Unknown', 'gone', '').map(
      (it) => () => (it === 'gone' ? null : it ? nodeOf(it) : undefined),
    ),
  ),
  lifecycle: sometimes(
    fc.constant({ preDelete: { finalizersHandler: ['a/b'] }, inPlaceUpdate: { labelsHandler: { a: 'b' } } }),
  ),
}) as fc.Arbitrary<Surroundings>

/** True if a pod is healthy by Kubernetes' rules, computed independently for this test. */
function isFine({ metadata, status }: Pod, { nowMs, minReadySeconds = 0, runsToCompletion }: Surroundings): boolean {
  if (metadata.deletionTimestamp) return false
  if (status?.phase === 'Succeeded') return runsToCompletion === true
  if (status?.phase === 'Failed') return false
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') return false
  const isOldEnough = minReadySeconds === 0 || Date.parse(
    ready.lastTransitionTime ?? 'never',
  ) + minReadySeconds * 1000 <= nowMs
  return isOldEnough && ['', 'Normal', undefined].includes(metadata.labels?.['lifecycle.apps.kruise.io/state'])
}

const runs = { numRuns: 3000, seed: 1 }

it('causeOfPod() of any pod: none exactly for those that are available', () => {
  fc.assert(fc.property(pod, surroundings, (some, around) => {
    expect(causeOfPod(some, around) === undefined).toBe(isFine(some, around))
  }), runs)
})

/** The names that a sentence says after these words. */
const named = (text: string, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), (m) => m[1]!)

it('causeOfPod() of any pod: names no container, claim or gate that it does not have', () => {
  fc.assert(fc.property(pod, surroundings, (some, around) => {
    const cause = causeOfPod(some, around)
    if (!cause) return
    const { spec, status } = some
    const text = sentenceOf(cause)
    const names = (all: readonly { name: string }[] | undefined) => (all ?? []).map(({ name }) => name)
    const has = {
      main: names(status?.containerStatuses), init: names(status?.initContainerStatuses),
      claims: (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim ? [persistentVolumeClaim.claimName] : ephemeral ? [`web-1-${name}`] : []),
      gates: [
        ...names(spec?.schedulingGates), ...(spec?.readinessGates ?? []).map(({ conditionType }) => conditionType),
      ],
    }
    expect(has.main).toEqual(expect.arrayContaining(named(text, /(?<!init )container "(\w+)"/g)))
    expect(has.init).toEqual(expect.arrayContaining(named(text, /init container "(\w+)"/g)))
    expect(has.claims).toEqual(expect.arrayContaining(named(text, /claim ([\w-]+),/g)))
    expect(has.gates).toEqual(expect.arrayContaining(named(text, /(?:readiness|scheduling) gates? "?([\w./]+)/g)))
    expect(some.metadata.finalizers ?? []).toEqual(expect.arrayContaining(named(text, /finalizers? "?([\w/]+)/g)))
    expect(text).not.toMatch(/undefined|NaN|\[object|: :|\.\./)
  }), runs)
})

it('causeOfPod() of any pod: has words, a time that the API wrote, and something that helps', () => {
  fc.assert(fc.property(pod, surroundings, (some, around) => {
    const cause = causeOfPod(some, around)
    if (!cause) return
    expect(cause).toMatchObject(
      { object: { kind: 'Pod', name: 'web-1' }, help: expect.stringMatching(/^[A-Za-z].+[.?]$/) as string },
    )
    expect(cause.text).toMatch(/^[a-z].*[^.\s]$/)
    if (cause.since) expect(cause.since).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    if (cause.changesAtMs !== undefined) expect(cause.changesAtMs).toBeGreaterThan(around.nowMs)
    expect(causeOfPod(some, around)).toEqual(cause)
  }), runs)
})
