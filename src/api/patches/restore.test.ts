import { expect, test } from 'vitest'
import type { Json } from '../object.ts'
import { restoreProblem } from './restore.ts'

test.each<[string, Json, string | undefined]>([
  ['an object', { spec: { replicas: 3, template: { spec: { containers: [{ name: 'a' }] } } } }, undefined],
  ['nulls and unknown fields', { spec: { replicas: null, foo: [] } }, undefined],
  ['a list for an object', { spec: ['x'] }, 'cannot restore struct from: slice'],
  ['a text for a list', { spec: { template: { spec: { containers: 'x' } } } }, 'cannot restore slice from string'],
  ['a list for a map', { metadata: { labels: ['x'] } }, 'cannot restore map from slice'],
  ['a text for a number', { spec: { replicas: 'many' } }, 'unrecognized type: int32'],
  ['a fraction for a number', { spec: { replicas: 1.5 } }, 'unrecognized type: int32'],
  ['a number for a text', { metadata: { labels: { a: 1 } } }, 'unrecognized type: string'],
  ['a text for an item', { spec: { template: { spec: { containers: ['x'] } } } }, 'cannot restore struct from: string'],
])('restoreProblem() of %s', (_, patched, problem) => {
  expect(restoreProblem(patched, 'Deployment')).toBe(problem)
})
