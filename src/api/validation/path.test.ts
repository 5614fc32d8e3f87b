import { expect, it } from 'vitest'
import { Path } from './path.ts'

it.each([
  [Path.of('spec'), 'spec'],
  [Path.of('spec', 'template', 'spec'), 'spec.template.spec'],
  [Path.of('spec').child('containers').index(2).child('image'), 'spec.containers[2].image'],
  [Path.of('metadata', 'labels').key('a.b/c'), 'metadata.labels[a.b/c]'],
  [Path.of('a').index(0).index(1).key('x').child('b', 'c'), 'a[0][1][x].b.c'],
])('Path %#: %s', (path, expected) => {
  expect(`${path}`).toBe(expected)
})

it('Path leaves the path it grew from as it was', () => {
  const spec = Path.of('spec')
  spec.child('a').index(1)
  expect(spec.toString()).toBe('spec')
})
