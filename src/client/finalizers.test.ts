import { expect, it } from 'vitest'
import { deepFreeze } from '../api/json/index.ts'
import { addFinalizer, finalizersPatch, hasFinalizer, removeFinalizer } from './finalizers.ts'

const bare = deepFreeze({ metadata: { name: 'a', uid: 'u', resourceVersion: '3' } })
const held = deepFreeze({ metadata: { name: 'a', uid: 'u', resourceVersion: '3', finalizers: ['x/one', 'x/two'] } })

it('addFinalizer() adds once and leaves what it was given alone', () => {
  expect(addFinalizer(held, 'x/three').metadata.finalizers).toEqual(['x/one', 'x/two', 'x/three'])
  expect(addFinalizer(held, 'x/one')).toBe(held)
  expect(hasFinalizer(addFinalizer(bare, 'x/one'), 'x/one')).toBe(true)
})

it('removeFinalizer() removes one and leaves no empty list', () => {
  expect(removeFinalizer(held, 'x/one').metadata.finalizers).toEqual(['x/two'])
  expect(removeFinalizer(bare, 'x/one')).toBe(bare)
  expect(removeFinalizer(removeFinalizer(held, 'x/one'), 'x/two').metadata).toEqual(bare.metadata)
})

it('finalizersPatch() holds only for the version that was read', () => {
  expect(finalizersPatch(held)).toEqual({ metadata: { uid: 'u', resourceVersion: '3', finalizers: ['x/one', 'x/two'] } })
  expect(finalizersPatch(bare)).toEqual({ metadata: { uid: 'u', resourceVersion: '3', finalizers: null } })
})
