import { describe, expect, it } from 'vitest'
import { validatePodUpdate } from './pod-update.ts'
import { samplePod } from './sample-pod.ts'

const fixed = 'spec: Forbidden: pod updates may not change fields other than'
const gates = { schedulingGates: [{ name: 'g' }] }
const tolerate = (fields: object) => ({ tolerations: [{ key: 'a', operator: 'Exists', ...fields }] })
const nodes = (...keys: string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) }],
      },
    },
  },
})

interface Row {
  name: string
  old: Record<string, unknown>
  next: Record<string, unknown>
  wrong: string[]
}

const rows: Row[] = [
  { name: 'nothing', old: {}, next: {}, wrong: [] },
  { name: 'the image', old: {}, next: { containers: [{ name: 'c', image: 'j' }] }, wrong: [] },
  {
    name: 'the image and with it the defaulted pull policy',
    old: {},
    next: { containers: [{ name: 'c', image: 'j:1' }] },
    wrong: [fixed],
  },
  {
    name: 'a container more',
    old: {},
    next: { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'i' }] },
    wrong: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  },
  {
    name: 'an init container more',
    old: {},
    next: { initContainers: [{ name: 'd', image: 'i' }] },
    wrong: ['spec.initContainers: Forbidden: pod updates may not add or remove containers'],
  },
  {
    name: 'an equal amount written differently',
    old: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] },
    next: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1000m' } } }] },
    wrong: [],
  },
  {
    name: 'the resources',
    old: {},
    next: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] },
    wrong: [fixed],
  },
  { name: 'the node', old: {}, next: { nodeName: 'n' }, wrong: [fixed] },
  { name: 'a deadline set', old: {}, next: { activeDeadlineSeconds: 5 }, wrong: [] },
  { name: 'a deadline brought forward', old: { activeDeadlineSeconds: 10 }, next: { activeDeadlineSeconds: 5 }, wrong: [] },
  {
    name: 'a deadline put off',
    old: { activeDeadlineSeconds: 10 },
    next: { activeDeadlineSeconds: 11 },
    wrong: ['spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value'],
  },
  {
    name: 'a deadline removed',
    old: { activeDeadlineSeconds: 10 },
    next: {},
    wrong: ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  },
  { name: 'a toleration added', old: {}, next: tolerate({}), wrong: [] },
  {
    name: 'a toleration with other seconds',
    old: tolerate({ effect: 'NoExecute', tolerationSeconds: 5 }),
    next: tolerate({ effect: 'NoExecute', tolerationSeconds: 9 }),
    wrong: [],
  },
  {
    name: 'a toleration removed',
    old: tolerate({}),
    next: {},
    wrong: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  },
  { name: 'a gate removed', old: gates, next: {}, wrong: [] },
  {
    name: 'a gate added',
    old: {},
    next: gates,
    wrong: ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
  },
  { name: 'the node selector', old: {}, next: { nodeSelector: { a: 'b' } }, wrong: [fixed] },
  {
    name: 'the node selector of a gated pod, narrowed',
    old: { ...gates, nodeSelector: { a: 'b' } },
    next: { ...gates, nodeSelector: { a: 'b', c: 'd' } },
    wrong: [],
  },
  {
    name: 'the node selector of a gated pod, changed',
    old: { ...gates, nodeSelector: { a: 'b' } },
    next: { ...gates, nodeSelector: { a: 'c' } },
    wrong: [
      'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  },
  { name: 'the node affinity of a gated pod, set', old: gates, next: { ...gates, ...nodes('a') }, wrong: [] },
  {
    name: 'the node affinity of a gated pod, narrowed',
    old: { ...gates, ...nodes('a') },
    next: { ...gates, ...nodes('a', 'b') },
    wrong: [],
  },
  {
    name: 'the node affinity of a gated pod, removed',
    old: { ...gates, ...nodes('a') },
    next: gates,
    wrong: [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    ],
  },
  { name: 'the pod affinity of a gated pod', old: gates, next: { ...gates, affinity: { podAffinity: {} } }, wrong: [fixed] },
  { name: 'ephemeral containers by this door', old: {}, next: { ephemeralContainers: [{ name: 'e', image: 'i' }] }, wrong: [fixed] },
]

describe('validatePodUpdate()', () => {
  it.each(rows)('$name', ({ old, next, wrong }) => {
    const found = validatePodUpdate(samplePod(next), samplePod(old)).map((e) => `${e.field}: ${e.message}`)
    expect(found.map((text) => (text.startsWith(fixed) ? fixed : text))).toEqual(wrong)
  })

  it('names the fields that may not change', () => {
    const [error] = validatePodUpdate(samplePod({ hostname: 'h', dnsPolicy: 'Default' }), samplePod())
    expect(error?.message).toContain('changed: spec.dnsPolicy, spec.hostname')
  })

  it('keeps the annotations that nodes have acted on', () => {
    const annotated = (annotations: object) => samplePod({ nodeName: 'n' }, { metadata: { name: 'p', annotations } })
    const mirror = 'kubernetes.io/config.mirror'
    expect(validatePodUpdate(annotated({}), annotated({ [mirror]: 'x' }))[0]?.message).toBe('Forbidden: may not remove or update mirror pod annotation')
    expect(validatePodUpdate(annotated({ [mirror]: 'x' }), annotated({}))[0]?.message).toBe('Forbidden: may not add mirror pod annotation')
  })
})
