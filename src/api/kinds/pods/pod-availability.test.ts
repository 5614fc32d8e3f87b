import { describe, expect, it } from 'vitest'
import type { Pod } from '../../generated/types.ts'
import { isPodActive, isPodAvailable, isPodReady, podDeletionGracePeriod } from './pod-availability.ts'
import { samplePod } from './sample-pod.ts'

const readySince = '2026-01-01T00:00:00Z'
const at = (seconds: number) => Date.parse(readySince) + seconds * 1000
const pod = (status: object = {}, metadata: object = {}): Pod => ({ metadata: { name: 'p', ...metadata }, status }) as unknown as Pod
const ready = (time: string | null = readySince, status = 'True') => pod({ phase: 'Running', conditions: [{ type: 'Ready', status, lastTransitionTime: time }] })

describe('isPodAvailable()', () => {
  it.each<[string, Pod, number, number, boolean]>([
    ['ready, none asked', ready(), 0, 0, true],
    ['ready without a time, none asked', ready(null), 0, 0, true],
    ['ready without a time, some asked', ready(null), 1, 1000, false],
    ['not ready', ready(readySince, 'False'), 0, 1000, false],
    ['without conditions', pod(), 0, 1000, false],
    ['a second too soon', ready(), 10, 9, false],
    ['just in time', ready(), 10, 10, true],
  ])('%s', (_, p, seconds, now, expected) => {
    expect(isPodAvailable(p, seconds, at(now))).toBe(expected)
  })
})

it.each<[string, Pod, boolean]>([
  ['pending', pod({ phase: 'Pending' }), true],
  ['without a phase', pod(), true],
  ['succeeded', pod({ phase: 'Succeeded' }), false],
  ['failed', pod({ phase: 'Failed' }), false],
  ['going', pod({ phase: 'Running' }, { deletionTimestamp: readySince }), false],
])('isPodActive(): %s', (_, p, expected) => {
  expect(isPodActive(p)).toBe(expected)
  expect(isPodReady(p)).toBe(false)
})

describe('podDeletionGracePeriod()', () => {
  it.each([
    { name: 'a pod without node goes at once', spec: {}, asked: 10, seconds: 0 },
    { name: 'a finished pod goes at once', spec: { nodeName: 'n' }, phase: 'Failed', asked: undefined, seconds: 0 },
    { name: 'a bound pod gets what its spec says', spec: { nodeName: 'n' }, asked: undefined, seconds: 30 },
    { name: 'a bound pod gets what was asked for', spec: { nodeName: 'n' }, asked: 7, seconds: 7 },
    { name: 'zero is taken at its word', spec: { nodeName: 'n' }, asked: 0, seconds: 0 },
    { name: 'less than nothing is a second', spec: { nodeName: 'n' }, asked: -1, seconds: 1 },
  ])('$name', ({ spec, phase, asked, seconds }) => {
    expect(podDeletionGracePeriod(samplePod(spec, { status: { phase: phase ?? 'Running' } }), asked)).toBe(seconds)
  })
})
