import { describe, expect, it } from 'vitest'
import { computeQosClass } from './qos.ts'
import { samplePod } from './sample-pod.ts'

const whole = { limits: { cpu: '1', memory: '1Gi' } }

const rows = [
  { name: 'nothing', containers: [{}], qos: 'BestEffort' },
  { name: 'only storage', containers: [{ limits: { 'ephemeral-storage': '1Gi' } }], qos: 'BestEffort' },
  { name: 'requests of zero', containers: [{ requests: { cpu: '0', memory: '0' } }], qos: 'BestEffort' },
  { name: 'a request', containers: [{ requests: { cpu: '1m' } }], qos: 'Burstable' },
  { name: 'one limit of two', containers: [{ limits: { cpu: '1' } }], qos: 'Burstable' },
  { name: 'requests below limits', containers: [{ ...whole, requests: { cpu: '500m' } }], qos: 'Burstable' },
  { name: 'limits everywhere', containers: [whole, whole], qos: 'Guaranteed' },
  {
    name: 'equal amounts written differently',
    containers: [{ ...whole, requests: { cpu: '1000m', memory: '1024Mi' } }],
    qos: 'Guaranteed',
  },
  { name: 'limits in one container of two', containers: [whole, {}], qos: 'Burstable' },
  { name: 'a guaranteed pod with an init container without limits', containers: [whole], init: [{}], qos: 'Burstable' },
  { name: 'resources of the pod itself', containers: [{}], pod: whole, qos: 'Guaranteed' },
  { name: 'requests of the pod itself', containers: [whole], pod: { requests: { cpu: '2', memory: '2Gi' } }, qos: 'Burstable' },
]

describe('computeQosClass()', () => {
  it.each(rows)('$name: $qos', ({ containers, init, pod, qos }) => {
    const list = (resources: object[], prefix: string) => resources.map(
      (r, i) => ({ name: `${prefix}${i}`, image: 'i', resources: r }),
    )
    const { spec } = samplePod({
      containers: list(containers, 'c'),
      ...(init ? { initContainers: list(init, 'i') } : {}),
      ...(pod ? { resources: pod } : {}),
    })
    expect(computeQosClass(spec)).toBe(qos)
  })
})
