import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isDns1123Label } from '../../../api/validation/names.ts'
import { hashOf } from './hash.ts'

it.each<[string, unknown, unknown, boolean]>([
  ['another order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['another last digit', { a: 2n ** 60n }, { a: 2n ** 60n + 1n }, false],
  ['another type', { a: 1 }, { a: '1' }, false],
  ['another order of items', { a: [1, 2] }, { a: [2, 1] }, false],
  ['a value elsewhere', { a: { b: 1 } }, { a: {}, b: 1 }, false],
])('hashOf(): %s', (_, a, b, same) => {
  expect(hashOf(a) === hashOf(b)).toBe(same)
})

it('hashOf() has another word for another count of collisions', () => {
  expect(new Set([0, 1, 2, 3].map((count) => hashOf({ a: 1 }, count))).size).toBe(4)
})

it('hashOf() is the word that Kubernetes has for a revision', () => {
  // A StatefulSet nginx-sts of one container, on a cluster older than 1.34: its revision was nginx-sts-6798d68dcd.
  const container = {
    name: 'nginx',
    image: 'nginx',
    imagePullPolicy: 'Always',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  }
  const spec = {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  }
  const template = { metadata: { labels: { app: 'nginx-sts' }, creationTimestamp: null }, spec, $patch: 'replace' }
  expect(hashOf({ spec: { template } })).toBe('6798d68dcd')
})

it('hashOf() always makes a piece of a name', () => {
  fc.assert(fc.property(fc.jsonValue(), fc.nat(), (value, count) => isDns1123Label(hashOf(value, count)).length === 0))
})
