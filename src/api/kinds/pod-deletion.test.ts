import { describe, expect, it } from 'vitest'
import { podDeletionGracePeriod } from './pod-deletion.ts'
import { samplePod } from './sample-pod.ts'

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
