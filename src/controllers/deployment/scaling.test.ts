import { describe, expect, it } from 'vitest'
import { type SetWords, deployment, observed, replicaSet } from './sample.ts'
import { isScaled, scaledTargets } from './scaling.ts'

const rolling = (replicas: number, maxSurge: number | string, status: object = {}) =>
  deployment({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 1 } } }, { status })

describe('isScaled()', () => {
  it.each<[string, SetWords, boolean]>([
    ['sized for the same number', { replicas: 5, desired: 10 }, false],
    ['sized for another one', { replicas: 5, desired: 8 }, true],
    ['without pods', { replicas: 0, desired: 8 }, false],
    ['without the annotation', { replicas: 5 }, false],
    ['with something else for a number', { replicas: 5, annotations: { 'deployment.kubernetes.io/desired-replicas': 'ten' } }, false],
  ])('%s', (_, words, expected) => {
    expect(isScaled(deployment({ replicas: 10 }), [replicaSet(1, words)])).toBe(expected)
  })
})

describe('scaledTargets()', () => {
  type Row = [string, ReturnType<typeof deployment>, SetWords | undefined, SetWords[], string | undefined]
  it.each<Row>([
    ['all to the only one', rolling(6, 0), { replicas: 4, desired: 4 }, [], '9→6'],
    ['all to the only one with pods, though it is old', rolling(6, 0), { replicas: 0 }, [{ replicas: 4, desired: 4 }], '1→6'],
    ['from nothing all to the new one', rolling(6, 0), { replicas: 0 }, [{ replicas: 0 }], '9→6'],
    ['from nothing, without a new one, to the youngest', rolling(6, 0), undefined, [{ replicas: 0 }, { replicas: 0 }], '2→6'],
    ['old ones go where the new one has all', rolling(6, 2), { replicas: 6, available: 6, desired: 6 }, [{ replicas: 2, desired: 4 }], '1→0'],
    ['half and half stays half and half', rolling(20, 0), { replicas: 5, desired: 10, max: 10 }, [{ replicas: 5, desired: 10, max: 10 }], '9→10 1→10'],
    ['in proportion down', rolling(5, 0), { replicas: 5, desired: 10, max: 10 }, [{ replicas: 5, desired: 10, max: 10 }], '1→2 9→3'],
    ['in proportion up with the rest to the largest', rolling(12, 0), { replicas: 4, desired: 10, max: 10 }, [{ replicas: 6, desired: 10, max: 10 }], '1→7 9→5'],
    ['in proportion with surge', rolling(15, 3), { replicas: 5, desired: 10, max: 13 }, [{ replicas: 8, desired: 10, max: 13 }], '1→11 9→7'],
    ['of three', rolling(30, 0), { replicas: 2, desired: 10, max: 10 }, [{ replicas: 4, desired: 10, max: 10 }, { replicas: 4, desired: 10, max: 10 }], '2→12 1→12 9→6'],
    ['one that was stopped in the middle and is as large as it may be', rolling(5, 1), { replicas: 3, desired: 4, max: 5 }, [{ replicas: 3, desired: 4, max: 5 }], '1→3 9→3'],
    ['to nothing', rolling(0, 2), { replicas: 3, desired: 5, max: 7 }, [{ replicas: 4, desired: 5, max: 7 }], '1→0 9→0'],
    ['without annotations by what there is', rolling(20, 0, { replicas: 10 }), { replicas: 5, desired: 10 }, [{ replicas: 5, desired: 10 }], '9→10 1→10'],
    ['without annotations or pods all to the newer of the largest', rolling(20, 0), { replicas: 5, desired: 10 }, [{ replicas: 5, desired: 10 }], '9→15 1→5'],
    ['none grows while there are too many', rolling(5, 0), { replicas: 2, desired: 1, max: 1 }, [{ replicas: 4, desired: 5, max: 5 }], '1→3 9→2'],
    ['the next one gives what the largest has not got', rolling(2, 0), { replicas: 4, desired: 12 }, [{ replicas: 4, desired: 12 }, { replicas: 4, desired: 12 }], '1→0 2→0 9→2'],
    ['of a Recreate with two, the rollout has to tell', deployment({ strategy: { type: 'Recreate' } }), { replicas: 3, desired: 4 }, [{ replicas: 3, desired: 4 }], undefined],
  ])('%s', (_, d, newWords, oldWords, expected) => {
    const targets = scaledTargets(observed({
      deployment: d,
      newSet: newWords && replicaSet(9, newWords),
      oldSets: oldWords.map((words, i) => replicaSet(i + 1, words)),
    }))
    expect(targets?.map(({ name, replicas }) => `${name.slice(4)}→${replicas}`).join(' ')).toBe(expected)
  })
})
