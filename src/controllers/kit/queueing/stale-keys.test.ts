import { expect, it } from 'vitest'
import { StaleKeys } from './stale-keys.ts'

it('StaleKeys hands out keys when the cache has come as far as each waits for', () => {
  const stale = new StaleKeys()
  stale.add('a', 'pods', '12')
  stale.add('b', 'pods', '9')
  stale.add('c', 'pods', '100')
  stale.add('d', 'replicasets.apps', '9')
  stale.add('e', 'pods', 'default/web-0 gone')
  expect(stale.takeSeen('pods', '8')).toEqual([])
  expect(stale.takeSeen('pods', '12')).toEqual(['b', 'a'])
  stale.add('c', 'pods', '101')
  expect(stale.takeSeen('pods', '100')).toEqual([])
  expect(stale.takeSeen('pods', '200')).toEqual(['c'])
  expect(stale.takeSeen('replicasets.apps', '9')).toEqual(['d'])
  expect(stale.takeSeen('configmaps', '9')).toEqual([])
})
