import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../generated/types.ts'
import type { Json } from '../../object.ts'
import { decodeObject } from '../../schema/index.ts'
import { Path } from '../../validation/path.ts'
import { defaultPodTemplate, podTemplateWarnings, validatePodTemplateSpec } from './pod-template.ts'

const path = Path.of('spec', 'template')

function sample(spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): PodTemplateSpec {
  const template = decodeObject('PodTemplateSpec', { metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } as Json).object as unknown as PodTemplateSpec
  defaultPodTemplate(template)
  return template
}

const problems = (template: PodTemplateSpec) => validatePodTemplateSpec(template, path).map((e) => `${e.field}: ${e.message}`)

describe('defaultPodTemplate()', () => {
  it('fills in less than a pod gets: no service links, no requests from limits, no host ports', () => {
    const limited = { name: 'c', image: 'i', resources: { limits: { cpu: '1' } }, ports: [{ containerPort: 80 }] }
    const { spec } = sample({ containers: [limited], hostNetwork: true })
    expect(spec.enableServiceLinks).toBeUndefined()
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: '1' } })
    expect(spec.containers[0]?.ports).toEqual([{ containerPort: 80, protocol: 'TCP' }])
    expect(spec).toMatchObject(
      {
        dnsPolicy: 'ClusterFirst',
        restartPolicy: 'Always',
        schedulerName: 'default-scheduler',
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      },
    )
  })
})

describe('validatePodTemplateSpec()', () => {
  it.each([
    { name: 'a plain template', spec: {}, wrong: [] },
    { name: 'an image with blanks, for others to fill in', spec: { containers: [{ name: 'c', image: ' ' }] }, wrong: [] },
    { name: 'an image volume without reference', spec: { volumes: [{ name: 'v', image: {} }] }, wrong: [] },
    {
      name: 'a token without account',
      spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      wrong: [],
    },
    {
      name: 'ephemeral containers',
      spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] },
      wrong: ['spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template'],
    },
    { name: 'no containers', spec: { containers: [] }, wrong: ['spec.template.spec.containers: Required value'] },
    {
      name: 'a host port on the host network',
      spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 81 }] }] },
      wrong: [
        'spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
      ],
    },
  ])('$name', ({ spec, wrong }) => {
    expect(problems(sample(spec))).toEqual(wrong)
  })

  it('reports labels and annotations where Kubernetes does', () => {
    const fields = validatePodTemplateSpec(sample({}, { labels: { 'a b': 'c' }, annotations: { 'd e': 'f' } }), path).map((e) => e.field)
    expect(fields).toEqual(['spec.template.labels', 'spec.template.annotations'])
  })
})

describe('podTemplateWarnings()', () => {
  it('names the place in the object', () => {
    expect(podTemplateWarnings(sample({ terminationGracePeriodSeconds: -1 }), path)).toEqual([
      'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ])
  })
})
