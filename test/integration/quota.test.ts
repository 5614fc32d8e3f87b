import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../src/api/errors.ts'
import type { Pod, ResourceQuotaSpec } from '../../src/api/generated/types.ts'
import { HttpTransport, type New, Client, configmaps, loadAccess, persistentvolumeclaims, pods, resourcequotas, services } from '../../src/client/index.ts'
import { type TestCluster, VirtualClock, startCluster } from '../../src/cluster/testing.ts'

const ns = 'default'

async function open(): Promise<TestCluster> {
  const cluster = await startCluster({ clock: new VirtualClock() })
  onTestFinished(() => cluster.stop())
  return cluster
}

/** A quota whose use is known to be nothing. */
async function makeQuota({ client }: Pick<TestCluster, 'client'>, hard: Record<string, string>, spec: ResourceQuotaSpec = {}, name = 'q'): Promise<void> {
  await client.create(resourcequotas, { metadata: { name, namespace: ns }, spec: { ...spec, hard } })
  await tellUsed({ client }, hard, Object.fromEntries(Object.keys(hard).map((key) => [key, '0'])), name)
}

const tellUsed = ({ client }: Pick<TestCluster, 'client'>, hard: Record<string, string>, used: Record<string, string>, name = 'q') =>
  client.patch(resourcequotas, ns, name, { status: { hard, used } }, { type: 'merge', subresource: 'status' })

const usedOf = async ({ client }: Pick<TestCluster, 'client'>, name = 'q') => (await client.get(resourcequotas, ns, name)).status?.used

const pod = (name: string, spec: object = {}): New<Pod> =>
  ({ metadata: { name, namespace: ns }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }) as New<Pod>

/** The outcome of a request as a text. */
const fate = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'made',
    (e: unknown) => (e instanceof ApiError ? e.message : String(e)),
  )

const count = (fates: readonly string[], wanted: RegExp | string) => fates.filter((f) => (typeof wanted === 'string' ? f === wanted : wanted.test(f))).length

describe('a hundred creates at the same time', () => {
  const crowd = (client: Client, names: (i: number) => string) => Promise.all(Array.from({ length: 100 }, (_, i) => fate(client.create(pods, pod(names(i))))))

  it('against a quota of ten: exactly ten succeed', async () => {
    const cluster = await open()
    await makeQuota(cluster, { pods: '10' })
    const fates = await crowd(cluster.client, (i) => `p${i}`)
    expect([count(fates, 'made'), count(fates, /exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10$/)]).toEqual([10, 90])
    expect(await usedOf(cluster)).toEqual({ pods: '10' })
    expect((await cluster.client.list(pods, ns)).items).toHaveLength(10)
  })

  it('against a quota of ten, over HTTP: exactly ten succeed', async () => {
    const cluster = await startCluster({ listen: true })
    const transport = new HttpTransport(await loadAccess({ file: cluster.kubeconfig! }))
    onTestFinished(async () => {
      await transport.close()
      await cluster.stop()
    })
    await makeQuota(cluster, { pods: '10' })
    const fates = await crowd(new Client(transport), (i) => `p${i}`)
    expect([count(fates, 'made'), count(fates, /exceeded quota/)]).toEqual([10, 90])
    expect(await usedOf(cluster)).toEqual({ pods: '10' })
  })

  it('while somebody writes a status that was counted too early: exactly ten succeed', async () => {
    const cluster = await open()
    const hard = { pods: '10' }
    await makeQuota(cluster, hard)
    const meddling = Promise.all(Array.from({ length: 20 }, () => tellUsed(cluster, hard, { pods: '0' })))
    const fates = await crowd(cluster.client, (i) => `p${i}`)
    await meddling
    await tellUsed(cluster, hard, { pods: '0' })
    fates.push(await fate(cluster.client.create(pods, pod('late'))))
    expect([count(fates, 'made'), count(fates, /exceeded quota/)]).toEqual([10, 91])
  })

  it('of the same name: one succeeds, and what the others were charged is given back', async () => {
    const cluster = await open()
    await makeQuota(cluster, { pods: '1000' })
    const fates = await crowd(cluster.client, () => 'one')
    expect([count(fates, 'made'), count(fates, 'pods "one" already exists')]).toEqual([1, 99])
    expect(await usedOf(cluster)).toEqual({ pods: '1' })
  })

  it('against two quotas: the stricter one decides, and both are charged alike', async () => {
    const cluster = await open()
    await makeQuota(cluster, { pods: '50' }, {}, 'a')
    await makeQuota(cluster, { 'count/pods': '7' }, {}, 'b')
    const fates = await crowd(cluster.client, (i) => `p${i}`)
    expect([count(fates, 'made'), count(fates, /exceeded quota: b, requested: count\/pods=1, used: count\/pods=7, limited: count\/pods=7$/)]).toEqual([7, 93])
    expect([await usedOf(cluster, 'a'), await usedOf(cluster, 'b')]).toEqual([{ pods: '7' }, { 'count/pods': '7' }])
  })
})

describe('a charge', () => {
  it('is not made by a dry run, which is refused all the same', async () => {
    const cluster = await open()
    await makeQuota(cluster, { pods: '1' })
    expect(await fate(cluster.client.create(pods, pod('a'), { dryRun: true }))).toBe('made')
    expect(await usedOf(cluster)).toEqual({ pods: '0' })
    await cluster.client.create(pods, pod('a'))
    expect(await fate(cluster.client.create(pods, pod('b'), { dryRun: true }))).toContain('exceeded quota: q')
  })

  it('is not made for an object that is refused for another reason', async () => {
    const cluster = await open()
    await makeQuota(cluster, { pods: '5' })
    expect(await fate(cluster.client.create(pods, pod('Not_A_Name')))).toContain('is invalid')
    expect(await usedOf(cluster)).toEqual({ pods: '0' })
  })

  it('is the difference, when a service becomes one with node ports', async () => {
    const cluster = await open()
    await makeQuota(cluster, { services: '9', 'services.nodeports': '1', 'services.loadbalancers': '1' })
    const spec = { selector: { a: 'b' }, ports: [{ port: 80, protocol: 'TCP' }] }
    await cluster.client.create(services, { metadata: { name: 's', namespace: ns }, spec } as never)
    expect(await usedOf(cluster)).toEqual({ services: '1', 'services.nodeports': '0', 'services.loadbalancers': '0' })
    await cluster.client.patch(services, ns, 's', { spec: { type: 'LoadBalancer' } }, { type: 'merge' })
    expect(await usedOf(cluster)).toEqual({ services: '1', 'services.nodeports': '1', 'services.loadbalancers': '1' })
    const more = { spec: { ports: [{ port: 80, name: 'a' }, { port: 81, name: 'b' }] } }
    expect(await fate(cluster.client.patch(services, ns, 's', more, { type: 'merge' }))).toBe(
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    )
  })

  it('is the difference, when a pod is resized', async () => {
    const cluster = await open()
    const sized = (cpu: string) => ({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] })
    await makeQuota(cluster, { 'requests.cpu': '1' })
    await cluster.client.create(pods, pod('a', sized('500m')))
    const resize = (cpu: string) => cluster.client.patch(pods, ns, 'a', { spec: sized(cpu) }, { type: 'strategic', subresource: 'resize' })
    expect(await fate(resize('800m'))).toBe('made')
    expect(await usedOf(cluster)).toEqual({ 'requests.cpu': '800m' })
    expect(await fate(resize('1100m'))).toBe(
      'pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=300m, used: requests.cpu=800m, limited: requests.cpu=1',
    )
  })

  it('is the difference, when a claim asks for more', async () => {
    const cluster = await open()
    await makeQuota(cluster, { 'requests.storage': '3Gi' })
    const size = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
    await cluster.client.create(persistentvolumeclaims, {
      metadata: { name: 'c', namespace: ns },
      spec: { accessModes: ['ReadWriteOnce'], ...size('2Gi').spec },
    } as never)
    expect(await fate(cluster.client.patch(persistentvolumeclaims, ns, 'c', size('4Gi'), { type: 'merge' }))).not.toBe('made')
    expect(await usedOf(cluster)).toEqual({ 'requests.storage': '2Gi' })
  })

  it('goes to quotas of the same namespace only', async () => {
    const cluster = await open()
    await makeQuota(cluster, { configmaps: '0' })
    expect(await fate(cluster.client.create(configmaps, { metadata: { name: 'c', namespace: 'kube-system' } }))).toBe('made')
    expect(await fate(cluster.client.create(configmaps, { metadata: { name: 'c', namespace: ns } }))).toContain('exceeded quota')
  })
})

describe('what is there', () => {
  it('counts, though the status says less', async () => {
    const cluster = await open()
    await cluster.client.create(pods, pod('a'))
    await makeQuota(cluster, { pods: '1' })
    expect(await fate(cluster.client.create(pods, pod('b')))).toBe('pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')
  })

  it('does not count once it has finished', async () => {
    const cluster = await open()
    await cluster.client.create(pods, pod('a'))
    await makeQuota(cluster, { pods: '1' })
    expect(await fate(cluster.client.create(pods, pod('b')))).toContain('exceeded')
    await cluster.client.patch(pods, ns, 'a', { status: { phase: 'Succeeded' } }, { type: 'merge', subresource: 'status' })
    expect(await fate(cluster.client.create(pods, pod('b')))).toBe('made')
  })

  it('does not count when it is gone', async () => {
    const cluster = await open()
    await cluster.client.create(pods, pod('a'))
    await makeQuota(cluster, { pods: '1' })
    expect(await fate(cluster.client.create(pods, pod('b')))).toContain('exceeded')
    await cluster.client.delete(pods, ns, 'a', { gracePeriodSeconds: 0 })
    expect(await fate(cluster.client.create(pods, pod('b')))).toBe('made')
  })
})
