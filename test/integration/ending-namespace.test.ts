import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../src/api/errors.ts'
import type { Pod } from '../../src/api/generated/types.ts'
import { type New, namespaces, pathOf, pods, resourcequotas } from '../../src/client/index.ts'
import { VirtualClock, startCluster } from '../../src/cluster/testing.ts'

const ns = 'old'
const pod = (name: string): New<Pod> => ({ metadata: { name, namespace: ns }, spec: { containers: [{ name: 'c', image: 'i' }] } }) as New<Pod>

async function open() {
  const cluster = await startCluster({ clock: new VirtualClock() })
  onTestFinished(() => cluster.stop())
  await cluster.client.create(namespaces, { metadata: { name: ns } })
  return cluster
}

const fate = (request: Promise<unknown>): Promise<string> => request.then(() => 'done', (e: unknown) => (e instanceof ApiError ? e.message : String(e)))

describe('in a namespace that is ending', () => {
  const why = (name: string) => `pods "${name}" is forbidden: unable to create new content in namespace old because it is being terminated`

  it('pods are neither made, nor bound, nor evicted', async () => {
    const { client, transport } = await open()
    await client.create(pods, pod('p'))
    await client.delete(namespaces, '', ns)
    const post = (subresource: string, body: object) => fate(transport.send({ method: 'POST', path: pathOf(pods, ns, 'p', subresource), body }))
    expect(await fate(client.create(pods, pod('q')))).toBe(why('q'))
    expect(await post('eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })).toBe(why('p'))
    expect(await post('binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } })).toBe(why('p'))
  })

  it('a pod is not made that had to wait for its quota meanwhile, and costs nothing', async () => {
    const { client } = await open()
    const hard = { pods: '5' }
    await client.create(resourcequotas, { metadata: { name: 'q', namespace: ns }, spec: { hard } })
    await client.patch(resourcequotas, ns, 'q', { status: { hard, used: { pods: '0' } } }, { type: 'merge', subresource: 'status' })
    const [ending, made] = await Promise.all([fate(client.delete(namespaces, '', ns)), fate(client.create(pods, pod('p')))])
    expect([ending, made]).toEqual(['done', why('p')])
    expect((await client.get(resourcequotas, ns, 'q')).status?.used).toEqual({ pods: '0' })
  })
})
