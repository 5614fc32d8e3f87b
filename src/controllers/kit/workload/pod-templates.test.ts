import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../../api/generated/types.ts'
import { namePrefix, podOfTemplate } from './pod-templates.ts'

const spec = { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] }
const template = (metadata: PodTemplateSpec['metadata'] = {}): PodTemplateSpec => ({ metadata, spec })

describe('podOfTemplate()', () => {
  it.each<[string, Parameters<typeof podOfTemplate>, object]>([
    ['nothing but a name', [template(), { name: 'web-0' }], { name: 'web-0' }],
    [
      'all that a template may say, and a name to be made',
      [template({ labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['example.com/f'] }), { generateName: 'web-' }],
      { generateName: 'web-', labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['example.com/f'] },
    ],
    [
      'what its controller adds goes before what the template says',
      [template({ labels: { app: 'web', index: 'x' } }), { name: 'web-0', labels: { index: '0' }, annotations: { a: 'b' }, finalizers: ['batch/f'] }],
      { name: 'web-0', labels: { app: 'web', index: '0' }, annotations: { a: 'b' }, finalizers: ['batch/f'] },
    ],
    ['names and namespaces of templates do not count', [template({ name: 'mine', namespace: 'there' }), { name: 'web-0' }], { name: 'web-0' }],
  ])('%s', (_, [from, identity], metadata) => {
    expect(podOfTemplate(from, identity)).toEqual({ metadata, spec })
  })
})

it.each([
  ['web', 'web-'],
  ['x'.repeat(252), `${'x'.repeat(252)}-`],
  ['x'.repeat(253), 'x'.repeat(253)],
])('namePrefix(%s) is a prefix of a name', (name, prefix) => {
  expect(namePrefix(name)).toBe(prefix)
})
