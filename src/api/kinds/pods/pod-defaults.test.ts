import { describe, expect, it } from 'vitest'
import { samplePod } from './sample-pod.ts'

const first = (fields: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
  samplePod({ containers: [{ name: 'c', image: 'i', ...fields }], ...rest }).spec.containers[0]!

const volumeOf = (source: Record<string, unknown>) => samplePod({ volumes: [{ name: 'v', ...source }] }).spec.volumes![0]!

describe('defaultPod()', () => {
  it('fills in a minimal pod', () => {
    expect(samplePod().spec).toEqual({
      containers: [
        {
          name: 'c',
          image: 'i',
          imagePullPolicy: 'Always',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          resources: {},
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    })
  })

  it('makes limits requests only where these are missing', () => {
    const { resources } = first({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } })
    expect(resources?.requests).toEqual({ cpu: '500m', memory: '1Gi' })
  })

  it('rounds amounts finer than a thousandth up', () => {
    expect(first({ resources: { requests: { cpu: '0.0001' } } }).resources?.requests).toEqual({ cpu: '1m' })
  })

  it('makes container ports host ports on the host network', () => {
    expect(first({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }).ports).toEqual(
      [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
    )
  })

  it('fills in probes and hooks', () => {
    const { livenessProbe, lifecycle } = first(
      { livenessProbe: { grpc: { port: 9 } }, lifecycle: { preStop: { httpGet: { port: 80 } } } },
    )
    expect(livenessProbe).toEqual(
      { grpc: { port: 9, service: '' }, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    )
    expect(lifecycle?.preStop?.httpGet).toEqual({ path: '/', port: 80, scheme: 'HTTP' })
  })

  it.each([
    { name: 'the new name fills the old', given: { serviceAccountName: 'a' }, both: 'a' },
    { name: 'the old name fills the new', given: { serviceAccount: 'b' }, both: 'b' },
    { name: 'the new name wins', given: { serviceAccountName: 'a', serviceAccount: 'b' }, both: 'a' },
  ])('service account: $name', ({ given, both }) => {
    expect(samplePod(given).spec).toMatchObject({ serviceAccountName: both, serviceAccount: both })
  })

  it.each([
    {
      name: 'limits and requests of containers',
      pod: { limits: { cpu: '2' } },
      containers: ['300m', '200m'],
      requests: { cpu: '500m' },
    },
    { name: 'limits alone', pod: { limits: { cpu: '2' } }, containers: [], requests: { cpu: '2' } },
    { name: 'requests that are there', pod: { requests: { cpu: '1' } }, containers: ['300m'], requests: { cpu: '1' } },
  ])('pod-level requests from $name', ({ pod, containers, requests }) => {
    const list = containers.map((cpu, i) => ({ name: `c${i}`, image: 'i', resources: { requests: { cpu } } }))
    const { resources } = samplePod({ resources: pod, ...(list.length ? { containers: list } : {}) }).spec
    expect(resources?.requests).toEqual(requests)
  })

  it('makes one address of a list and a list of one address', () => {
    expect(samplePod({}, { status: { podIP: '10.0.0.1' } }).status.podIPs).toEqual([{ ip: '10.0.0.1' }])
    expect(samplePod({}, { status: { podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::1' }] } }).status.podIP).toBe('10.0.0.2')
  })
})

describe('defaultVolume()', () => {
  it.each([
    { name: 'no source', given: {}, made: { emptyDir: {} } },
    { name: 'a host path', given: { hostPath: { path: '/x' } }, made: { hostPath: { path: '/x', type: '' } } },
    { name: 'a secret', given: { secret: { secretName: 's' } }, made: { secret: { secretName: 's', defaultMode: 420 } } },
    { name: 'an image', given: { image: { reference: 'a:1' } }, made: { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } } },
    {
      name: 'a projected token',
      given: { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      made: { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
    },
    {
      name: 'a scaleIO volume',
      given: { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' } } },
      made: { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' }, storageMode: 'ThinProvisioned', fsType: 'xfs' } },
    },
  ])('$name', ({ given, made }) => {
    expect(volumeOf(given)).toEqual({ name: 'v', ...made })
  })
})
