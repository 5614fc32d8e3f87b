import { expect, it } from 'vitest'
import { notFound } from '../../api/errors.ts'
import type { OwnerReference } from '../../api/object.ts'
import { askScale } from './expected.ts'

const ref: OwnerReference = { apiVersion: 'example.com/v1', kind: 'CloneSet', name: 'web', uid: 'u', controller: true }
const resources = (...names: [name: string, kind: string][]) => ({ resources: names.map(([name, kind]) => ({ name, kind })) })
const scalable = resources(['clonesets/status', 'CloneSet'], ['clonesets', 'CloneSet'], ['clonesets/scale', 'Scale'])
const scalePath = '/apis/example.com/v1/namespaces/ns/clonesets/web/scale'

it.each<[string, Record<string, object>, object | undefined]>([
  ['the number that it wants', { '/apis/example.com/v1': scalable, [scalePath]: { metadata: { uid: 'u' }, spec: { replicas: 7 } } }, { uid: 'u', replicas: 7 }],
  ['zero, which scales leave out', { '/apis/example.com/v1': scalable, [scalePath]: { metadata: { uid: 'u' } } }, { uid: 'u', replicas: 0 }],
  ['nothing, if another one has its name', { '/apis/example.com/v1': scalable, [scalePath]: { metadata: { uid: 'x' }, spec: { replicas: 7 } } }, undefined],
  ['nothing, if it is gone', { '/apis/example.com/v1': scalable }, undefined],
  ['that its kind has no scale', { '/apis/example.com/v1': resources(['clonesets', 'CloneSet']) }, { failure: 'clonesets.example.com does not implement the scale subresource' }],
  ['that there is no such kind', { '/apis/example.com/v1': resources() }, { failure: 'no matches for kind "CloneSet" in version "example.com/v1"' }],
  ['that there is no such version', {}, { failure: 'no matches for kind "CloneSet" in version "example.com/v1"' }],
])('the server says of a manager: %s', async (_, answers, scale) => {
  const ask = async <T>(path: string): Promise<T> => {
    if (!answers[path]) throw notFound({ group: '', resource: 'x' }, path)
    return answers[path] as T
  }
  expect(await askScale(ask, 'ns', ref)).toEqual(scale)
})
