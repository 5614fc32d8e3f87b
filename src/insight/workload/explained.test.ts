import { describe, expect, it } from 'vitest'
import { type Cause, podsThatMatter, refusalOf } from '../../api/explain/index.ts'
import type { Node } from '../../api/generated/types.ts'
import { exitCodes } from '../failure.ts'
import { causesOf, exitCodeFor, grouped, isInTheWay, warningOf, withProgram, withWarning } from './explained.ts'
import type { Surroundings } from './gather.ts'
import { ago, condition, counts, sampleNow, samplePod, sampleWorkload } from './sample.ts'
import type { State } from './said.ts'
import { standingOf } from './standing.ts'

const around = (fields: Partial<Surroundings> = {}): Surroundings => ({
  pods: [],
  isUpdated: undefined,
  nodes: new Map(),
  claims: new Map(),
  budgets: [],
  refusal: undefined,
  ...fields,
})
const pending = samplePod('web-1', {
  status: { phase: 'Pending', conditions: [] },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
})
const node = {
  metadata: { name: 'n-1' },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
} as unknown as Node
const what = (causes: readonly Cause[]) => causes.map((cause) => cause.what)

describe('causesOf()', () => {
  const web = sampleWorkload('StatefulSet', {}, counts(1, 1, 0, 0))
  it('names a claim that does not exist', () => {
    expect(what(causesOf(...web, around({ pods: [pending], nodes: new Map([['n-1', node]]) }), sampleNow))).toEqual([
      'ClaimMissing',
    ])
  })

  it('says nothing of claims and nodes that could not be read', () => {
    expect(what(causesOf(...web, around({ pods: [pending], nodes: undefined, claims: undefined }), sampleNow))).toEqual(
      ['Starting'],
    )
  })

  it('explains by the workload alone where pods could not be read', () => {
    const refusal = refusalOf(
      sampleWorkload(
        'StatefulSet',
        {},
        { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 5, 'exceeded quota')] },
      )[1].status?.conditions,
    )
    expect(causesOf(...web, around({ pods: undefined, refusal }), sampleNow)).toMatchObject([
      { what: 'CreateRefused', text: 'cannot create a pod: exceeded quota' },
    ])
  })

  const budget = {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1 },
  }
  it.each([
    ['is in the way while a node is drained', true, true],
    ['is worth knowing, and no more, otherwise', false, false],
  ])('a disruption budget %s', (_, unschedulable, inTheWay) => {
    const nodes = new Map([['n-1', { ...node, spec: { unschedulable } }]])
    const causes = causesOf(...web, around({ pods: [samplePod('web-0')], budgets: [budget], nodes }), sampleNow)
    expect(what(causes)).toEqual(['DisruptionBudget'])
    expect(causes.map(isInTheWay)).toEqual([inTheWay])
  })
})

const cause = (fields: Partial<Cause> = {}): Cause => ({
  what: 'ImagePull',
  weight: 'trouble',
  object: { kind: 'Pod', name: 'web-1' },
  text: 'cannot pull',
  help: '',
  ...fields,
})

it('withProgram() calls the program in help as it was called', () => {
  const help = (text: string) => withProgram([cause({ help: text })], 'kubectl coxswain')[0]!.help
  expect(help('coxswain rollout resume deployment/web.')).toBe('kubectl coxswain rollout resume deployment/web.')
  expect(help('kubectl delete pod web-0.')).toBe('kubectl delete pod web-0.')
})

it('grouped() makes one of causes that differ in the pod only', () => {
  const causes = [
    cause(),
    cause({ object: { kind: 'Pod', name: 'web-2' } }),
    cause({ object: { kind: 'Pod', name: 'web-3' }, text: 'is lost' }),
  ]
  expect(grouped(causes).map(({ object, others }) => [object.name, others])).toEqual([
    ['web-1', ['web-2']],
    ['web-3', []],
  ])
})

describe('withWarning()', () => {
  const event = (reason: string, lastTimestamp: string) => ({
    metadata: {},
    involvedObject: {},
    reportingComponent: '',
    reportingInstance: '',
    source: {},
    type: 'Warning',
    reason,
    message: 'timed out.',
    lastTimestamp,
    count: 4,
  })
  const starting = cause({ what: 'SandboxStarting', weight: 'starting', text: 'waits for its sandbox' })
  it.each([
    [
      'a volume that cannot be mounted',
      starting,
      event('FailedMount', ago(5)),
      'VolumeFailed',
      'cannot start: timed out',
    ],
    [
      'a sandbox that cannot be made',
      starting,
      event('FailedCreatePodSandBox', ago(5)),
      'SandboxFailed',
      'cannot start: timed out',
    ],
    ['not what was long ago', starting, event('FailedMount', ago(300)), 'SandboxStarting', 'waits for its sandbox'],
    [
      'not what says nothing about the start',
      starting,
      event('BackOff', ago(5)),
      'SandboxStarting',
      'waits for its sandbox',
    ],
    ['not where the cause is known', cause(), event('FailedMount', ago(5)), 'ImagePull', 'cannot pull'],
  ])('tells %s', (_, before, warning, kind, text) => {
    expect(withWarning(before, warningOf([warning]), sampleNow)).toMatchObject({ what: kind, text })
  })
})

describe('exitCodeFor()', () => {
  it.each([
    ['all is well', 'Available', [], exitCodes.ok],
    ['all is well, and an old pod is going', 'Available', [cause({ weight: 'starting' })], exitCodes.ok],
    ['a pod is starting', 'Progressing', [cause({ weight: 'starting' })], exitCodes.waits],
    ['nobody knows what it waits for', 'Progressing', [], exitCodes.waits],
    ['it is paused', 'Paused', [cause({ weight: 'held' })], exitCodes.waits],
    ['a pod is in trouble', 'Progressing', [cause()], exitCodes.trouble],
    ['it is out of time', 'Stuck', [], exitCodes.trouble],
    ['a Job has failed', 'Failed', [], exitCodes.trouble],
    [
      'a budget that nobody runs into',
      'Available',
      [cause({ what: 'DisruptionBudget', weight: 'held', text: 'allows no eviction' })],
      exitCodes.ok,
    ],
  ] as [string, State, Cause[], number][])('%s', (_, state, causes, code) => {
    expect(exitCodeFor({ ...standingOf(...sampleWorkload('Deployment'), sampleNow), state }, causes)).toBe(code)
  })
})

it('podsThatMatter() of a Job have not ended; where it pauses or has none, the last that failed matters too', () => {
  const failed = (name: string, made: number, ended: number) =>
    samplePod(name, {
      status: { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: ago(ended) }] },
      metadata: { creationTimestamp: ago(made) },
    })
  const succeeded = samplePod('d', { status: { phase: 'Succeeded' } })
  const names = (isPaused: boolean, ...all: Parameters<typeof podsThatMatter>[0]) =>
    podsThatMatter(all, isPaused).map(({ metadata }) => metadata.name)
  const [a, b] = [failed('a', 30, 5), failed('b', 10, 8)]
  expect(names(false, a, b, samplePod('c'))).toEqual(['c'])
  expect(names(true, a, b, samplePod('c'))).toEqual(['c', 'a'])
  expect(names(false, a, b, succeeded)).toEqual(['a'])
})
