import { expect, it } from 'vitest'
import { knowingLatest } from './latest.ts'

it('knowingLatest() asks once for the same, and again for another', () => {
  const asked: object[] = []
  const answer = knowingLatest((seen: object) => asked.push(seen))
  const [a, b] = [{}, {}]
  expect([answer(a), answer(a), answer(b), answer(a)]).toEqual([1, 1, 2, 3])
})
