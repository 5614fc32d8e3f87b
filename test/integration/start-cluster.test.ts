import { existsSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Client, HttpTransport, configmaps, loadAccess, namespaces } from '../../src/client/index.ts'
import { type TestClusterOptions, SeededRandom, VirtualClock, startCluster } from '../../src/cluster/testing.ts'

async function start(options?: TestClusterOptions) {
  const cluster = await startCluster(options)
  onTestFinished(() => cluster.stop())
  return cluster
}

describe('startCluster()', () => {
  it('starts in under 100 ms', async () => {
    const tookMs: number[] = []
    for (let i = 0; i < 3; i++) {
      const startedMs = performance.now()
      const { client } = await start()
      await client.get(namespaces, '', 'default')
      tookMs.push(performance.now() - startedMs)
    }
    expect(Math.min(...tookMs)).toBeLessThan(100)
  })

  it('gives each test a cluster of its own', async () => {
    const [one, two] = [await start(), await start()]
    await one.client.create(configmaps, { metadata: { name: 'a', namespace: 'default' } })
    await expect(two.client.get(configmaps, 'default', 'a')).rejects.toThrow('not found')
  })

  it('comes out the same on a virtual clock from the same seed', async () => {
    const uid = async () => (await (await start({ clock: new VirtualClock(), random: new SeededRandom(7) })).client.get(namespaces, '', 'default')).metadata
    expect(await uid()).toEqual(await uid())
  })

  it('lets others in over HTTPS, with a kubeconfig that is gone when it is', async () => {
    const cluster = await startCluster({ listen: true, clock: new VirtualClock() })
    const transport = new HttpTransport(await loadAccess({ file: cluster.kubeconfig! }))
    try {
      const client = new Client(transport)
      await client.create(configmaps, { metadata: { name: 'a', namespace: 'default' }, data: { from: 'outside' } })
      expect((await cluster.client.get(configmaps, 'default', 'a')).data).toEqual({ from: 'outside' })
    } finally {
      await transport.close()
      await cluster.stop()
    }
    expect(existsSync(cluster.kubeconfig!)).toBe(false)
  })

  it('opens no port unless asked', async () => {
    const { url, kubeconfig } = await start()
    expect([url, kubeconfig]).toEqual([undefined, undefined])
  })

  it('switches feature gates', async () => {
    expect((await start({ gates: { StatefulSetConditions: false } })).gates.enabled('StatefulSetConditions')).toBe(false)
  })
})
