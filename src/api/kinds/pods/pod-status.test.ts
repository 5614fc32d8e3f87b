import { describe, expect, it } from 'vitest'
import { prepareStatusUpdate, validatePodStatusUpdate } from './pod-status.ts'
import { samplePod } from './sample-pod.ts'

const container = (state: object, name = 'c') => ({ name, image: 'i', imageID: '', ready: false, restartCount: 0, state })
const ended = (exitCode: number) => container({ terminated: { exitCode } })
const running = container({ running: {} })
const stays = (list: string) => [`status.${list}[0].state: Forbidden: may not be transitioned to non-terminated state`]

interface Row {
  name: string
  spec?: Record<string, unknown>
  old?: Record<string, unknown>
  status: Record<string, unknown>
  wrong: string[]
}

const own = (fields: object) => ({ restartPolicy: 'Never', containers: [{ name: 'c', image: 'i', ...fields }] })

const rows: Row[] = [
  { name: 'a condition of any status', status: { conditions: [{ type: 'Ready', status: 'x' }] }, wrong: [] },
  { name: 'a node to come', status: { nominatedNodeName: 'n1' }, wrong: [] },
  {
    name: 'a node to come for a pod that has one',
    spec: { nodeName: 'n0' },
    status: { nominatedNodeName: 'n1' },
    wrong: ['status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node'],
  },
  {
    name: 'another quality of service',
    old: { qosClass: 'BestEffort' },
    status: { qosClass: 'Burstable' },
    wrong: ['status.qosClass: Invalid value: "Burstable": field is immutable'],
  },
  {
    name: 'two addresses of one family',
    status: { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
    wrong: [
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ],
  },
  {
    name: 'an address of the host that is not the first of its list',
    status: { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] },
    wrong: ['status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`'],
  },
  {
    name: 'a container that runs again, Always',
    old: { containerStatuses: [ended(0)] },
    status: { containerStatuses: [running] },
    wrong: [],
  },
  {
    name: 'a container that succeeded and runs again, OnFailure',
    spec: { restartPolicy: 'OnFailure' },
    old: { containerStatuses: [ended(0)] },
    status: { containerStatuses: [running] },
    wrong: stays('containerStatuses'),
  },
  {
    name: 'a container that failed and runs again, OnFailure',
    spec: { restartPolicy: 'OnFailure' },
    old: { containerStatuses: [ended(1)] },
    status: { containerStatuses: [running] },
    wrong: [],
  },
  {
    name: 'a container that runs again by its own policy',
    spec: own({ restartPolicy: 'Always' }),
    old: { containerStatuses: [ended(0)] },
    status: { containerStatuses: [running] },
    wrong: [],
  },
  {
    name: 'a container that runs again by its own rule',
    spec: own({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] }),
    old: { containerStatuses: [ended(42)] },
    status: { containerStatuses: [running] },
    wrong: [],
  },
  {
    name: 'a container that runs again against its own rule',
    spec: own({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] }),
    old: { containerStatuses: [ended(1)] },
    status: { containerStatuses: [running] },
    wrong: stays('containerStatuses'),
  },
  {
    name: 'a sidecar that runs again, Never',
    spec: { restartPolicy: 'Never', initContainers: [{ name: 'c2', image: 'i', restartPolicy: 'Always' }] },
    old: { initContainerStatuses: [container({ terminated: { exitCode: 0 } }, 'c2')] },
    status: { initContainerStatuses: [container({ running: {} }, 'c2')] },
    wrong: [],
  },
  {
    name: 'an ephemeral container that runs again',
    old: { ephemeralContainerStatuses: [ended(1)] },
    status: { ephemeralContainerStatuses: [running] },
    wrong: stays('ephemeralContainerStatuses'),
  },
  {
    name: 'a user that is none',
    status: { containerStatuses: [{ ...running, user: { linux: { uid: -1, gid: 0 } } }] },
    wrong: ['status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  },
  {
    name: 'a claim that the pod does not have',
    status: { resourceClaimStatuses: [{ name: 'x' }] },
    wrong: ['status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`'],
  },
  {
    name: 'a generation below zero',
    status: { observedGeneration: -1 },
    wrong: ['status.observedGeneration: Invalid value: -1: must be greater than or equal to 0'],
  },
]

describe('validatePodStatusUpdate()', () => {
  it.each(rows)('$name', ({ spec = {}, old = {}, status, wrong }) => {
    const errors = validatePodStatusUpdate(samplePod(spec, { status }), samplePod(spec, { status: old }))
    expect(errors.map((e) => `${e.field}: ${e.message}`)).toEqual(wrong)
  })
})

describe('prepareStatusUpdate()', () => {
  it('puts back spec, owners and quality of service, and takes labels', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'm', uid: 'u' }
    const pod = samplePod(
      { nodeName: 'n' },
      { metadata: { name: 'p', labels: { a: 'b' }, ownerReferences: [owner] }, status: { phase: 'Running' } },
    )
    const old = samplePod({}, { status: { qosClass: 'BestEffort', observedGeneration: 3 } })
    prepareStatusUpdate(pod, old)
    expect(pod.spec).toEqual(old.spec)
    expect(pod.metadata).toMatchObject({ labels: { a: 'b' } })
    expect(pod.metadata.ownerReferences).toBeUndefined()
    expect(pod.status).toEqual({ phase: 'Running', qosClass: 'BestEffort', observedGeneration: 3 })
  })
})
