import { describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

const cluster = useEverything(['--runtime', 'simulated', '--feature-gates', 'CoordinatedLeaderElection=true'])
const ok = (args: string, input?: object) => cluster.kubectl.ok(args, ...(input ? [JSON.stringify(input)] : []))
const rows = async (args: string) => (await ok(`${args} --no-headers`)).trim().split('\n').map((line) => line.split(/\s+/))

const gpu = { metadata: { name: 'gpu' }, apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', spec: { selectors: [{ cel: { expression: 'true' } }] } }
const claimSpec = { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpu' } }] } }
const claim = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name: 'claim' }, spec: claimSpec }
const template = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaimTemplate', metadata: { name: 'template' }, spec: { spec: claimSpec } }
const slice = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: 'slice' },
  spec: { driver: 'gpu.example.com', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, devices: [{ name: 'gpu-0' }] },
}

describe('devices', () => {
  it('are created, shown, explained, selected and deleted', async () => {
    for (const object of [gpu, claim, template, slice]) await ok('create -f -', object)
    expect((await rows('get resourceclaims')).map((r) => r.slice(0, 2))).toEqual([['claim', 'pending']])
    expect((await rows('get resourceslices --field-selector spec.driver=gpu.example.com,spec.nodeName=n')).map((r) => r.slice(0, 4))).toEqual([['slice', 'n', 'gpu.example.com', 'p']])
    expect(await ok('get resourceslices --field-selector spec.driver=other -o name')).toBe('')
    expect(await ok('get resourceclaim claim -o jsonpath={.spec.devices.requests[0].exactly}')).toBe('{"allocationMode":"ExactCount","count":1,"deviceClassName":"gpu"}')
    expect(await ok('explain resourceclaim.spec.devices.requests.exactly.count')).toMatch(/FIELD: count <integer>/)
    const names = await ok('delete deviceclass/gpu resourceclaim/claim resourceclaimtemplate/template resourceslice/slice -o name')
    expect(names.trim().split('\n')).toHaveLength(4)
  })
})

describe('service addresses', () => {
  it('are objects, come from ranges that can be added, and go with their service', async () => {
    await ok('create service clusterip web --tcp=80 --clusterip=10.0.0.44')
    expect((await rows('get ipaddresses')).map((r) => r.slice(0, 2))).toEqual([['10.0.0.1', 'services/default/kubernetes'], ['10.0.0.44', 'services/default/web']])
    expect(await ok('get ipaddresses,servicecidrs -o name')).toBe(
      'ipaddress.networking.k8s.io/10.0.0.1\nipaddress.networking.k8s.io/10.0.0.44\nservicecidr.networking.k8s.io/kubernetes\n',
    )
    await ok('create -f -', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'more' }, spec: { cidrs: ['10.7.0.0/24'] } })
    await ok('wait --for=condition=Ready servicecidr/more --timeout=60s')
    expect((await rows('get servicecidrs')).map((r) => r.slice(0, 2))).toEqual([['kubernetes', '10.0.0.0/24'], ['more', '10.7.0.0/24']])
    await ok('create service clusterip there --tcp=80 --clusterip=10.7.0.9')
    await ok('delete servicecidr more --wait=false')
    await ok('wait --for=condition=Ready=False servicecidr/more --timeout=60s')
    await ok('delete service web there')
    await ok('wait --for=delete servicecidr/more --timeout=60s')
    expect((await rows('get ip')).map((r) => r[0])).toEqual(['10.0.0.1'])
    expect(await ok('explain servicecidr.spec.cidrs')).toMatch(/FIELD: cidrs <\[\]string>/)
  })
})

describe('the control plane', () => {
  it('says how its parts are, with a warning', async () => {
    const { out, err } = await cluster.kubectl.run('get cs')
    expect(err).toBe('Warning: v1 ComponentStatus is deprecated in v1.19+\n')
    expect(out.replace(/ +/g, ' ').replaceAll(' \n', '\n')).toBe(
      'NAME STATUS MESSAGE ERROR\ncontroller-manager Healthy ok\nscheduler Healthy ok\netcd-0 Healthy ok\n',
    )
  })

  it('tells extension servers whom it trusts, and knows candidates for a lease', async () => {
    const data = await ok('get configmap -n kube-system extension-apiserver-authentication -o jsonpath={.data.client-ca-file}')
    expect(data).toContain('BEGIN CERTIFICATE')
    const spec = { leaseName: 'x', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' }
    await ok('create -f -', { apiVersion: 'coordination.k8s.io/v1beta1', kind: 'LeaseCandidate', metadata: { name: 'me' }, spec })
    expect((await rows('get leasecandidates')).map((r) => r.slice(0, 4))).toEqual([['me', 'x', '1.36.0', '1.36.0']])
    expect(await ok('delete leasecandidate me -o name')).toBe('leasecandidate.coordination.k8s.io/me\n')
  })
})
