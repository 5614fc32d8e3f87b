import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../generated/types.ts'
import { goJson } from '../../json/index.ts'
import { holdsTemplate, templateOf, templatePatch } from './controller-revision.ts'

/** A template with its defaults, in the order in which the server has it. */
const template = {
  metadata: { labels: { app: 'web', 10: 'x', 9: 'y' }, annotations: { note: '<&>' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'app:1',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
} as unknown as PodTemplateSpec

const spec =
  '"spec":{"containers":[{"image":"app:1","imagePullPolicy":"IfNotPresent","name":"main","resources":{},' +
  '"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst",' +
  '"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},' +
  '"terminationGracePeriodSeconds":30}'
const annotations = '"annotations":{"note":"\\u003c\\u0026\\u003e"}'
const written = (metadata: string) =>
  `{"spec":{"template":{"$patch":"replace","metadata":{${annotations},${metadata}},${spec}}}}`
const labels = '"labels":{"10":"x","9":"y","app":"web"}'

it('templatePatch() is what Kubernetes 1.36 stores', () => {
  expect(goJson(templatePatch(template))).toBe(written(labels))
})

describe('holdsTemplate()', () => {
  const data = JSON.parse(written(labels)) as { spec: { template: PodTemplateSpec & { $patch?: string } } }
  const with_ = (change: (held: PodTemplateSpec) => unknown) => {
    const copy = structuredClone(data)
    change(copy.spec.template)
    return copy
  }
  const container = (held: PodTemplateSpec) => held.spec.containers[0]!

  it.each<[string, unknown, boolean]>([
    ['what Kubernetes 1.36 stores', data, true],
    ['what Kubernetes 1.33 stores', JSON.parse(written(`"creationTimestamp":null,${labels}`)), true],
    ['a default that is not said', with_((held) => delete container(held).imagePullPolicy), true],
    ['an empty list that is said', with_((held) => (container(held).args = [])), true],
    ['another image', with_((held) => (container(held).image = 'app:2')), false],
    ['another label', with_((held) => (held.metadata!.labels!['9'] = 'z')), false],
    ['a default with another value', with_((held) => (held.spec.dnsPolicy = 'None')), false],
    ['a template of another type', { spec: { template: { spec: { containers: 'all' } } } }, false],
    ['a template that is a text', { spec: { template: 'text' } }, false],
    ['no template', { spec: {} }, false],
    ['nothing', {}, false],
    ['data that is not there', undefined, false],
  ])('%s: %#', (_, held, holds) => {
    expect(holdsTemplate({ data: held }, template)).toBe(holds)
  })

  it('does not take two that cannot be read for the same', () => {
    const broken = { spec: { containers: 'all' } } as unknown as PodTemplateSpec
    expect(holdsTemplate({ data: { spec: { template: { spec: { containers: 'none' } } } } }, broken)).toBe(false)
  })
})

it('templateOf() is the template that was put in', () => {
  expect(templateOf({ data: templatePatch(template) })).toEqual(template)
})
