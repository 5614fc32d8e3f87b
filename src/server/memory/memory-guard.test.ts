import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { MetricsRegistry } from '../../base/metrics.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { anonymousBytes, memoryLimit, processMemory } from './machine-memory.ts'
import { MemoryGuard, expectedBytes } from './memory-guard.ts'

const mb = 2 ** 20
const somebody = { name: 'ann', uid: '', groups: ['system:masters'], extra: {} }
const node = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} }

function makeGuard(heapMb: number, machineMb = 0) {
  const used = { heap: heapMb, machine: machineMb }
  const clock = new VirtualClock()
  const metrics = new MetricsRegistry()
  const amount = (of: 'heap' | 'machine') => () => ({ usedBytes: used[of] * mb, limitBytes: 100 * mb })
  const guard = new MemoryGuard({ memory: { heap: amount('heap'), machine: amount('machine') }, clock, metrics, logger: silentLogger })
  const tries = (user = somebody, bytes = mb) => {
    try {
      return guard.admit('list', user, bytes)
    } catch (e) {
      expect(e).toMatchObject({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } })
      return undefined
    }
  }
  const later = (ms: number, change: Partial<typeof used> = {}) => {
    Object.assign(used, change)
    return clock.advance(ms)
  }
  return { tries, later, metrics }
}

describe('MemoryGuard', () => {
  it.each<[string, number, number, typeof somebody, boolean]>([
    ['enough', 50, 50, somebody, true],
    ['nearly too little', 79, 0, somebody, true],
    ['too little in the heap, for anybody', 81, 0, somebody, false],
    ['too little in the machine, for anybody', 0, 81, somebody, false],
    ['too little, for a node', 81, 0, node, true],
    ['far too little, for a node', 91, 0, node, false],
    ['next to nothing, for a node', 96, 0, node, false],
  ])('with %s', (_what, heap, machine, user, isLetIn) => {
    const { tries } = makeGuard(heap, machine)
    if (heap < 95) tries(user)
    expect(tries(user) !== undefined).toBe(isLetIn)
  })

  it('lets in no more at once than there is room for, and one where there is none', () => {
    const { tries } = makeGuard(70)
    const first = tries(somebody, 15 * mb)
    expect([first, tries(somebody, 4 * mb), tries(somebody, 4 * mb)].map(Boolean)).toEqual([true, true, false])
    first!()
    first!()
    expect([tries(somebody, 14 * mb), tries(somebody, 4 * mb)].map(Boolean)).toEqual([true, false])
    expect(Boolean(makeGuard(70).tries(somebody, 50 * mb))).toBe(true)
  })

  it('lets in one at a time, once a second, while memory is short, and all when it is not', async () => {
    const { tries, later } = makeGuard(85)
    const first = tries()
    expect([first, tries()].map(Boolean)).toEqual([true, false])
    await later(1500)
    expect(tries()).toBeUndefined()
    first!()
    expect([tries(), tries()].map(Boolean)).toEqual([true, false])
    await later(1500, { heap: 40 })
    expect([tries(), tries(), tries()].map(Boolean)).toEqual([true, true, true])
  })

  it('counts what it refuses', () => {
    const { tries, metrics } = makeGuard(97)
    for (let i = 0; i < 3; i++) tries()
    expect(metrics.text()).toContain('coxswain_memory_refused_requests_total{verb="list"} 3')
    expect(metrics.text()).toContain('coxswain_memory_limit_bytes{of="heap"} 104857600')
  })
})

describe('expectedBytes()', () => {
  it.each<[string, string, number, number, number]>([
    ['a get', 'get', 0, 0, 0],
    ['a renewed lease', 'update', 0, 600, 0],
    ['a long body', 'create', 0, 3 * mb, 24 * mb],
    ['an empty list', 'list', 0, 0, mb / 16],
    ['a short list', 'list', 16, 0, mb],
    ['a list of everything', 'list', 100_000, 0, 8 * mb],
    ['a watch', 'watch', 0, 0, mb / 16],
  ])('%s', (_what, verb, objects, body, bytes) => {
    expect(expectedBytes(verb, objects, body)).toBe(bytes)
  })
})

describe('the memory of a process', () => {
  it.each<[string, number | undefined, number]>([
    ['no cgroup', 0, 1000],
    ['a cgroup without a limit', 2 ** 64, 1000],
    ['a cgroup with one', 300, 300],
    ['an unknown one', undefined, 1000],
  ])('is limited by what there is: %s', (_what, constrained, limit) => {
    expect(memoryLimit(constrained, 1000)).toBe(limit)
  })

  it.runIf(process.platform === 'linux')('is what it was while no descriptor is free to measure it', () => {
    const free = { descriptors: 0 }
    const memory = processMemory(() => {
      if (free.descriptors === 0) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
      return 'RssAnon: 300 kB\n'
    })
    expect(memory.machine().usedBytes).toBeGreaterThan(0)
    free.descriptors = 1
    expect(memory.machine().usedBytes).toBe(300 * 1024)
    free.descriptors = 0
    expect(memory.machine().usedBytes).toBe(300 * 1024)
  })

  it('does not count pages of files', () => {
    expect(anonymousBytes('VmRSS:\t  900 kB\nRssAnon:\t     300 kB\nRssFile:\t   600 kB\n')).toBe(300 * 1024)
    expect(anonymousBytes('VmRSS: 1 kB\n')).toBeUndefined()
  })
})
