import { describe, expect, it } from 'vitest'
import { type TestServer, settle } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const flows = '/apis/flowcontrol.apiserver.k8s.io/v1'
const kubernetes = '/api/v1/namespaces/default/services/kubernetes'

const codeOf = async (url: string): Promise<number> => (await server.get(url)).code

async function pass(ms: number): Promise<void> {
  await settle()
  server.clock.advance(ms)
  await settle()
}

describe('an object that every cluster has is made again when it is deleted', () => {
  it.each([
    ['the Service of this server', kubernetes],
    ['a flow schema that must be there', `${flows}/flowschemas/catch-all`],
    ['a priority level', `${flows}/prioritylevelconfigurations/workload-low`],
  ])('%s', async (_what, url) => {
    const before = (await server.get(url)).body
    expect([(await server.delete(url)).code, await codeOf(url)]).toEqual([200, 404])
    await pass(1000)
    expect((await server.get(url)).body.spec).toEqual(before.spec)
  })

  it('the namespace of the leases of nodes', async () => {
    const url = '/api/v1/namespaces/kube-node-lease'
    await server.delete(url)
    // The controller of namespaces does this when nothing is left in it.
    await server.update(`${url}/finalize`, { ...(await server.get(url)).body, spec: { finalizers: [] } })
    expect(await codeOf(url)).toBe(404)
    await pass(1000)
    expect((await server.get(url)).body.status.phase).toBe('Active')
  })

  it('later, where it cannot be made at once', async () => {
    await server.delete(kubernetes)
    await settle()
    const other = { metadata: { name: 'other' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } }
    expect((await server.create('/api/v1/namespaces/default/services', other)).code).toBe(201)
    await pass(1000)
    expect(await codeOf(kubernetes)).toBe(404)
    await server.delete('/api/v1/namespaces/default/services/other')
    await pass(10_000)
    expect(await codeOf(kubernetes)).toBe(200)
  })

  it('but nothing else is, and nothing by a server that has ended', async () => {
    const revision = () => server.api.parts.objects.revision
    const spec = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }
    await server.create(`${flows}/prioritylevelconfigurations`, { metadata: { name: 'mine' }, spec })
    await server.delete(`${flows}/prioritylevelconfigurations/mine`)
    const before = revision()
    await pass(60_000)
    expect(revision()).toBe(before)
    await server.delete(`${flows}/flowschemas/catch-all`)
    const then = revision()
    server.api.close()
    await pass(60_000)
    expect(revision()).toBe(then)
  })
})
