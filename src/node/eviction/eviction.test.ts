import { describe, expect, it } from 'vitest'
import { samplePod } from '../sample-pod.ts'
import { type Candidate, evictionMessage, rankForEviction } from './rank.ts'
import { defaultThresholds, parseThresholds, thresholdsMet } from './signals.ts'

const Mi = 1 << 20
const enough = { capacity: 1000 * Mi, available: 500 * Mi }
const machine = { atMs: 0, cpuNanos: 0, memory: enough, disk: enough, inodes: { capacity: 100, available: 50 }, pids: { capacity: 100, available: 50 } }

describe('thresholdsMet()', () => {
  const met = (text: string, more: Partial<typeof machine>) => thresholdsMet(parseThresholds(text), { ...machine, ...more })
  it.each([
    ['nothing, where there is enough', defaultThresholds, {}, []],
    ['too little memory', 'memory.available<100Mi', { memory: { capacity: 1000 * Mi, available: 99 * Mi } }, ['memory.available']],
    ['as much as there must be', 'memory.available<100Mi', { memory: { capacity: 1000 * Mi, available: 100 * Mi } }, []],
    ['a share of the disk', 'nodefs.available<10%', { disk: { capacity: 1000, available: 99 } }, ['nodefs.available']],
    ['memory before all others', 'pid.available<10,memory.available<1Gi', { pids: { capacity: 100, available: 9 } }, ['memory.available', 'pid.available']],
    ['nothing, where nothing is to be looked at', '', { memory: { capacity: 1, available: 0 } }, []],
  ])('tells %s', (_what, text, more, expected) => {
    expect(met(text, more).map(({ signal }) => signal)).toEqual(expected)
  })

  it.each(['memory<1Gi', 'memory.available>1Gi', 'memory.available<', 'memory.available<-1', 'memory.available<a lot'])('is not asked for %s', (text) => {
    expect(() => parseThresholds(text)).toThrow('memory')
  })
})

/** A pod with its priority, and how much memory it has asked for and takes. */
const candidate = (name: string, priority: number, requestMi: number, usesMi: number): Candidate => ({
  pod: samplePod({ priority, containers: [{ name: 'app', image: 'app', ...(requestMi ? { resources: { requests: { memory: `${requestMi}Mi` } } } : {}) }] }, { name, uid: name }),
  containers: [{ name: 'app', memoryBytes: usesMi * Mi }],
})

describe('rankForEviction()', () => {
  const names = (resource: 'memory' | 'pids', ...all: Candidate[]) => rankForEviction(resource, all).map(({ pod }) => pod.metadata.name)
  it.each([
    ['who takes more than was asked for, however important', [candidate('modest', 0, 200, 100), candidate('greedy', 1000, 100, 101)], ['greedy', 'modest']],
    ['who matters less', [candidate('important', 10, 0, 900), candidate('other', 0, 0, 1)], ['other', 'important']],
    ['who is furthest above', [candidate('a', 0, 500, 600), candidate('b', 0, 0, 200)], ['b', 'a']],
    ['who is least below', [candidate('a', 0, 500, 100), candidate('b', 0, 500, 400)], ['b', 'a']],
  ])('begins with %s', (_what, all, expected) => {
    expect(names('memory', ...all)).toEqual(expected)
  })

  it('goes by importance alone for what is not memory', () => {
    expect(names('pids', candidate('important', 10, 0, 900), candidate('other', 0, 200, 1))).toEqual(['other', 'important'])
  })
})

describe('evictionMessage()', () => {
  it('names the containers that take more than was asked for', () => {
    const met = { signal: 'memory.available', wanted: 100 * Mi, available: 64 * Mi } as const
    expect(evictionMessage(met, candidate('web', 0, 0, 3))).toBe(
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. Container app was using 3Mi, request is 0, has larger consumption of memory. ',
    )
  })

  it('names none where it is about the disk', () => {
    const met = { signal: 'nodefs.available', wanted: 1000, available: 10 } as const
    expect(evictionMessage(met, candidate('web', 0, 0, 3))).toBe('The node was low on resource: ephemeral-storage. Threshold quantity: 1000, available: 10. ')
  })
})
