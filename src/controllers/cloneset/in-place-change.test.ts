import { expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../api/generated/types.ts'
import { type InPlaceChange, inPlaceVerdict } from './in-place-change.ts'
import { podTemplate } from './in-place-sample.ts'

const app = { name: 'app', image: 'app:1' }
const side = { name: 'side', image: 'side:1' }

const template = (spec: object = {}, metadata: object = {}): PodTemplateSpec => podTemplate({ containers: [app, side], ...spec }, { labels: { app: 'web' }, ...metadata })

const nothing: InPlaceChange = { images: {}, labels: {}, annotations: {} }

const rows: [what: string, to: PodTemplateSpec, verdict: Partial<InPlaceChange> | string][] = [
  ['nothing', template(), {}],
  ['one image', template({ containers: [{ ...app, image: 'app:2' }, side] }), { images: { app: 'app:2' } }],
  ['all images', template({ containers: [{ ...app, image: 'app:2' }, { ...side, image: 'side:2' }] }), { images: { app: 'app:2', side: 'side:2' } }],
  ['labels', template({}, { labels: { tier: 'front' } }), { labels: { app: null, tier: 'front' } }],
  ['annotations', template({}, { annotations: { note: 'x' } }), { annotations: { note: 'x' } }],
  ['an image and a label', template({ containers: [{ ...app, image: 'app:2' }, side] }, { labels: { app: 'shop' } }), { images: { app: 'app:2' }, labels: { app: 'shop' } }],
  ['an empty list that was left out before', template({ volumes: [] }), {}],
  ['a variable', template({ containers: [{ ...app, env: [{ name: 'A', value: '1' }] }, side] }), '/spec/containers/0/env has changed'],
  ['an image and a command', template({ containers: [{ ...app, image: 'app:2', command: ['x'] }, side] }), '/spec/containers/0/command has changed'],
  ['a container\'s name', template({ containers: [{ ...app, name: 'other' }, side] }), '/spec/containers/0/name has changed'],
  ['a container more', template({ containers: [app, side, { name: 'new', image: 'new:1' }] }), '/spec/containers/2 has changed'],
  ['a container less', template({ containers: [app] }), '/spec/containers/1 has changed'],
  ['the order of containers', template({ containers: [side, app] }), '/spec/containers/0/name has changed'],
  ['an init container\'s image', template({ initContainers: [{ name: 'init', image: 'init:2' }] }), '/spec/initContainers has changed'],
  ['the grace period', template({ terminationGracePeriodSeconds: 5 }), '/spec/terminationGracePeriodSeconds has changed'],
  ['finalizers', template({}, { finalizers: ['example.com/x'] }), '/metadata/finalizers has changed'],
  ['an image that is no longer given', template({ containers: [{ name: 'app' }, side] }), '/spec/containers/0/image has changed'],
]

it.each(rows)('inPlaceVerdict() of a change of %s', (_what, to, expected) => {
  expect(inPlaceVerdict(template(), to)).toEqual(typeof expected === 'string' ? { obstacle: expected } : { change: { ...nothing, ...expected } })
})

it('inPlaceVerdict() knows no way from a revision that is not there', () => {
  expect(inPlaceVerdict(undefined, template())).toEqual({ obstacle: 'the revision that it was made from is not known any more' })
})
