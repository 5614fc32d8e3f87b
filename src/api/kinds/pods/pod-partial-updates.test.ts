import { describe, expect, it } from 'vitest'
import type { Pod } from '../../generated/types.ts'
import {
  prepareEphemeralContainersUpdate, prepareResize, validateEphemeralContainersUpdate, validateResize,
} from './pod-partial-updates.ts'
import { samplePod } from './sample-pod.ts'

const shown = (errors: { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message.split('\n')[0]}`)

const asks = (resources: object, more: object = {}) => ({ containers: [{ name: 'c', image: 'i', resources, ...more }] })

describe('the ephemeralcontainers subresource', () => {
  const debug = (image: string) => ({ ephemeralContainers: [{ name: 'e', image }] })

  it('changes nothing else', () => {
    const pod = samplePod(
      { ...debug('i'), hostname: 'h' },
      { metadata: { name: 'p', labels: { a: 'b' } }, status: { phase: 'Running' } },
    )
    const old = samplePod()
    prepareEphemeralContainersUpdate(pod, old)
    expect(pod.spec.hostname).toBeUndefined()
    expect(pod.metadata.labels).toBeUndefined()
    expect(pod.status).toEqual(old.status)
    expect(pod.spec.ephemeralContainers).toHaveLength(1)
  })

  it.each([
    { name: 'adding one', old: {}, next: debug('i'), wrong: [] },
    {
      name: 'changing one',
      old: debug('i'),
      next: debug('j'),
      wrong: ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed'],
    },
    {
      name: 'removing one',
      old: debug('i'),
      next: {},
      wrong: ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed'],
    },
    {
      name: 'one with ports and a probe',
      old: {},
      next: {
        ephemeralContainers: [{ name: 'e', image: 'i', ports: [{ containerPort: 1 }], livenessProbe: { tcpSocket: { port: 1 } } }],
      },
      wrong: ['ports', 'livenessProbe'].map(
        (f) => `spec.ephemeralContainers[0].${f}: Forbidden: cannot be set for an Ephemeral Container`,
      ),
    },
    {
      name: 'one beside a container that is not there',
      old: {},
      next: { ephemeralContainers: [{ name: 'e', image: 'i', targetContainerName: 'x' }] },
      wrong: ['spec.ephemeralContainers[0].targetContainerName: Not found: "x"'],
    },
    {
      name: 'one named like a container',
      old: {},
      next: { ephemeralContainers: [{ name: 'c', image: 'i' }] },
      wrong: ['spec.ephemeralContainers[0].name: Duplicate value: "c"'],
    },
  ])('$name', ({ old, next, wrong }) => {
    expect(shown(validateEphemeralContainersUpdate(samplePod(next), samplePod(old)))).toEqual(wrong)
  })
})

describe('the resize subresource', () => {
  const resize = (next: Pod, old: Pod) => {
    prepareResize(next, old)
    return shown(validateResize(next, old))
  }

  it('changes nothing but resources', () => {
    const next = samplePod({ ...asks({ requests: { cpu: '2' } }, { image: 'other' }), hostname: 'h' })
    const old = samplePod(asks({ requests: { cpu: '1' } }))
    expect(resize(next, old)).toEqual([])
    expect(next.spec).toEqual({ ...old.spec, containers: [{ ...old.spec.containers[0], resources: { requests: { cpu: '2' } } }] })
  })

  const burstable = asks({ requests: { cpu: '1', memory: '1Gi' } })
  it.each([
    {
      name: 'to another quality of service',
      old: {},
      next: asks({ requests: { cpu: '1' } }),
      wrong: ['spec: Invalid value: "": Pod QOS Class may not change as a result of resizing'],
    },
    {
      name: 'of storage',
      old: burstable,
      next: asks({ requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' } }),
      wrong: ['spec: Forbidden: only cpu and memory resources are mutable'],
    },
    {
      name: 'that removes a request',
      old: burstable,
      next: asks({ requests: { cpu: '1' } }),
      wrong: ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'],
    },
    {
      name: 'that adds a container',
      old: burstable,
      next: { containers: [...burstable.containers, { name: 'd', image: 'i' }] },
      wrong: ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    },
    {
      name: 'that renames a container',
      old: burstable,
      next: { containers: [{ ...burstable.containers[0], name: 'd' }] },
      wrong: ['spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize'],
    },
    {
      name: 'of a Windows pod',
      old: { ...burstable, os: { name: 'windows' } },
      next: burstable,
      wrong: ['[]: Forbidden: windows pods cannot be resized'],
    },
  ])('refuses a resize $name', ({ old, next, wrong }) => {
    expect(resize(samplePod(next), samplePod(old))).toEqual(wrong)
  })

  it.each([
    { name: 'reports no resources', status: {}, wrong: ['spec: Forbidden: Pod running on node without support for resize'] },
    { name: 'reports resources', status: { resources: { requests: { cpu: '1' } } }, wrong: [] },
  ])('asks a running container that $name', ({ status, wrong }) => {
    const containerStatuses = [
      { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} }, ...status },
    ]
    const old = samplePod(burstable, { status: { qosClass: 'Burstable', containerStatuses } })
    expect(resize(samplePod(asks({ requests: { cpu: '2', memory: '1Gi' } })), old)).toEqual(wrong)
  })
})
