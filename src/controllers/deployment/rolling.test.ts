import { describe, expect, it } from 'vitest'
import { type Sized, boundsOf, grown, rollingTargets } from './rolling.ts'
import { deployment } from './sample.ts'

type Size = number | string

describe('boundsOf() rounds', () => {
  it.each<[number, Size, Size, number, number]>([
    // replicas, surge, unavailable → surge, unavailable
    [10, 3, 2, 3, 2],
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [2, '25%', '25%', 1, 0],
    [3, '25%', '25%', 1, 0],
    [4, '25%', '25%', 1, 1],
    [5, '10%', '10%', 1, 0],
    [10, '1%', '0%', 1, 0],
    [10, '0%', '9%', 0, 1],
    [10, 0, '19%', 0, 1],
    [10, '0%', '100%', 0, 10],
    [1, '0%', '50%', 0, 1],
    [10, '100%', 0, 10, 0],
    [10, '150%', 0, 15, 0],
    [10, 20, 0, 20, 0],
    [5, 0, 7, 0, 5],
    [0, '25%', '25%', 0, 0],
    [0, 2, 2, 2, 0],
    [0, 0, '10%', 0, 0],
  ])('%s replicas, surge %s, unavailable %s: %s and %s', (replicas, maxSurge, maxUnavailable, surge, unavailable) => {
    const d = deployment({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } })
    expect(boundsOf(d)).toEqual({ replicas, maxSurge: surge, maxUnavailable: unavailable })
  })

  it('leaves a Recreate no room', () => {
    expect(boundsOf(deployment({ replicas: 10, strategy: { type: 'Recreate' } }))).toEqual({ replicas: 10, maxSurge: 0, maxUnavailable: 0 })
  })
})

const set = (name: string, [replicas, available]: readonly [number, number]): Sized => ({ name, replicas, available })

describe('grown()', () => {
  it.each<[string, number, number, number, number, number]>([
    ['alone, all at once', 10, 0, 0, 0, 10],
    ['beside all old ones the surge', 10, 3, 0, 10, 3],
    ['no room without surge', 10, 0, 0, 10, 0],
    ['as old ones go', 10, 3, 3, 8, 5],
    ['no more than wanted', 10, 3, 8, 2, 10],
    ['not smaller where there are too many', 10, 3, 5, 12, 5],
    ['a rollover begins with nothing', 10, 3, 0, 13, 0],
  ])('%s', (_, replicas, maxSurge, current, others, expected) => {
    expect(grown({ replicas, maxSurge, maxUnavailable: 0 }, current, others)).toBe(expected)
  })
})

describe('rollingTargets()', () => {
  type Pair = readonly [number, number]
  it.each<[string, { replicas: number; surge: number; unavailable: number }, Pair, Pair[], string]>([
    // new and old: [size, available]
    ['a start with surge and unavailability takes both', { replicas: 10, surge: 3, unavailable: 2 }, [0, 0], [[10, 10]], 'a→8 new→5'],
    ['a start with surge alone keeps all old ones', { replicas: 10, surge: 3, unavailable: 0 }, [0, 0], [[10, 10]], 'new→3'],
    ['a start without surge takes old ones first', { replicas: 10, surge: 0, unavailable: 3 }, [0, 0], [[10, 10]], 'a→7 new→3'],
    ['all at once where all may be missing', { replicas: 5, surge: 0, unavailable: 5 }, [0, 0], [[5, 5]], 'a→0 new→5'],
    ['one pod by surge', { replicas: 1, surge: 1, unavailable: 0 }, [0, 0], [[1, 1]], 'new→1'],
    ['as new ones become available, old ones go', { replicas: 10, surge: 3, unavailable: 2 }, [5, 3], [[8, 8]], 'a→5 new→8'],
    ['nothing while new ones are not available', { replicas: 10, surge: 3, unavailable: 2 }, [5, 0], [[8, 8]], ''],
    ['nothing if an old one is lost meanwhile', { replicas: 10, surge: 3, unavailable: 2 }, [5, 0], [[8, 7]], ''],
    ['an undo takes what crashes', { replicas: 10, surge: 3, unavailable: 2 }, [8, 7], [[5, 0]], 'a→1 new→10'],
    ['a rollover takes old ones before it begins', { replicas: 10, surge: 3, unavailable: 2 }, [0, 0], [[8, 8], [5, 0]], 'b→0 new→5'],
    ['unhealthy old ones go first, the oldest set first', { replicas: 10, surge: 0, unavailable: 2 }, [0, 0], [[5, 4], [5, 4]], 'a→4 b→4 new→2'],
    ['healthy ones of the oldest set next', { replicas: 10, surge: 0, unavailable: 3 }, [0, 0], [[5, 5], [5, 5]], 'a→2 new→3'],
    ['an unhealthy one goes though as many are missing as may', { replicas: 10, surge: 0, unavailable: 2 }, [0, 0], [[10, 8]], 'a→8 new→2'],
    ['no healthy one goes if too many are missing', { replicas: 10, surge: 0, unavailable: 2 }, [0, 0], [[10, 5]], 'a→8 new→2'],
    ['the last old ones go when all new ones are there', { replicas: 10, surge: 3, unavailable: 0 }, [10, 10], [[3, 3]], 'a→0'],
    ['a new one that somebody made too large shrinks first', { replicas: 4, surge: 1, unavailable: 1 }, [6, 6], [[2, 2]], 'new→4'],
    ['nothing is left to do', { replicas: 4, surge: 1, unavailable: 1 }, [4, 4], [[0, 0]], ''],
    ['what an old one said before it shrank does not count', { replicas: 10, surge: 3, unavailable: 2 }, [5, 0], [[8, 10]], ''],
    ['what the new one said before it shrank does not count', { replicas: 10, surge: 3, unavailable: 2 }, [2, 8], [[8, 8]], 'a→6 new→7'],
    ['no pods are wanted', { replicas: 0, surge: 0, unavailable: 0 }, [0, 0], [[3, 3]], 'a→0'],
  ])('%s', (_, { replicas, surge, unavailable }, current, old, expected) => {
    const targets = rollingTargets({ replicas, maxSurge: surge, maxUnavailable: unavailable }, set('new', current), old.map((pair, i) => set('abc'[i]!, pair)))
    expect(targets.map((t) => `${t.name}→${t.replicas}`).join(' ')).toBe(expected)
  })

  it('keeps within its bounds from any state, and comes to its end from any', () => {
    let state = 7
    const below = (n: number) => (state = (state * 48271) % 2147483647) % n
    for (let round = 0; round < 400; round++) {
      const replicas = below(12)
      const maxUnavailable = Math.min(replicas, below(4))
      const maxSurge = maxUnavailable === 0 ? 1 + below(4) : below(5)
      const sets = ['new', 'a', 'b'].map((name) => set(name, ((size: number) => [size, below(size + 1)] as const)(below(10))))
      const total = () => sets.reduce((sum, s) => sum + s.replicas, 0)
      const available = () => sets.reduce((sum, s) => sum + s.available, 0)
      for (let turn = 0; turn < 60; turn++) {
        const [most, least] = [Math.max(total(), replicas + maxSurge), Math.min(available(), replicas - maxUnavailable)]
        for (const { name, replicas: to } of rollingTargets({ replicas, maxSurge, maxUnavailable }, sets[0]!, sets.slice(1))) {
          const target = sets.find((s) => s.name === name)!
          target.replicas = to
          target.available = Math.min(target.available, to)
          expect(total()).toBeLessThanOrEqual(most)
          expect(available()).toBeGreaterThanOrEqual(least)
        }
        const behind = sets.find((s) => s.available < s.replicas)
        if (behind) behind.available++
      }
      expect(sets.map((s) => s.replicas)).toEqual([replicas, 0, 0])
    }
  })
})
