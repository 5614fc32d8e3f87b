import { readFileSync } from 'node:fs'
import { type Transport, configmaps, deployments } from 'coxswain/client'
import { answerReview } from 'coxswain/controllers'
import { FaultyTransport, SeededRandom, VirtualClock, passTime, startCluster } from 'coxswain/testing'
import { expect, it } from 'vitest'
import { judge, websiteController } from './operator.ts'
import { type Website, websites } from './website.ts'

const crd = readFileSync(new URL('crd.yaml', import.meta.url), 'utf8')
const website = (name: string, spec: Website['spec']): Website => ({ metadata: { name, namespace: 'default' }, spec })

it('a website has a Deployment and a domain, and gives both up', async () => {
  const clock = new VirtualClock()
  const { client, stop } = await startCluster({ clock, crds: [crd], controllers: [websiteController] })
  const domains = async () => (await client.get(configmaps, 'default', 'domains')).data
  await client.create(websites, website('a', { domain: 'a.example.com' }))
  await client.create(websites, website('b', { domain: 'b.example.com', replicas: 2, port: 'http' }))
  await passTime(clock, 1000)
  expect(await domains()).toEqual({ 'a.example.com': 'default/a', 'b.example.com': 'default/b' })
  expect((await client.get(deployments, 'default', 'b')).spec).toMatchObject({ replicas: 2, template: { spec: { containers: [{ env: [{ value: 'http' }, {}] }] } } })
  expect((await client.get(websites, 'default', 'b')).status).toEqual({ ready: '0/2', observedGeneration: 1 })

  await client.create(websites, website('c', { domain: 'a.example.com' }))
  await passTime(clock, 1000)
  expect((await client.get(websites, 'default', 'c')).status?.ready).toBe('default/a has the domain')
  await client.delete(websites, 'default', 'a')
  await passTime(clock, 1000)
  expect(await domains()).toEqual({ 'a.example.com': 'default/c', 'b.example.com': 'default/b' })
  await stop()
})

it('it gets there over a bad network', async () => {
  const clock = new VirtualClock()
  let network: FaultyTransport | undefined
  const wrapTransport = (inner: Transport) => (network = new FaultyTransport(inner, { clock, random: new SeededRandom(4) }))
  const { client, stop } = await startCluster({ clock, crds: [crd], controllers: [websiteController], wrapTransport })
  network!.faults = { drop: 0.2, loseAnswers: 0.2, conflicts: 0.2, delayMs: 300, staleMs: 2000, cutWatches: 0.1 }
  for (const name of ['a', 'b', 'c']) await client.create(websites, website(name, { domain: `${name}.example.com` }))
  await passTime(clock, 600_000)
  expect(Object.keys((await client.get(configmaps, 'default', 'domains')).data ?? {})).toHaveLength(3)
  expect((await client.list(deployments, 'default')).items).toHaveLength(3)
  expect(Object.values(network!.struck).every((times) => times > 0)).toBe(true)
  await stop()
})

it('the webhook refuses a domain without a dot', async () => {
  const review = (domain: string) => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', operation: 'CREATE' as const, object: website('a', { domain }) } })
  expect((await answerReview(review('a'), judge)).response).toEqual({ uid: 'u', allowed: false, status: { code: 403, message: 'spec.domain: a has no dot' } })
  expect((await answerReview(review('a.b'), judge)).response).toEqual({ uid: 'u', allowed: true })
})
