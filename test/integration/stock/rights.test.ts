import { describe, expect, it, onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import { Logger } from '../../../src/base/logger.ts'
import { clonesets, clusterroles, daemonsets, jobs, replicasets, replicationcontrollers, statefulsets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, settled } from '../../../src/cluster/testing.ts'
import { objectsOf } from '../../../src/cluster/manifests/index.ts'
import { type Rule, clusterRules } from '../../../src/cluster/manifests/roles.ts'
import { ControllerManager, publishers } from '../../../src/controllers/index.ts'
import { cloneSetDefinition } from './definitions.ts'
import { applyManifest } from './manifest.ts'
import { NotedTransport, type Right, allows, rightsIn, textOf } from './rights.ts'
import { StockScene } from './stock-scene.ts'
import { daemonSet, job, replicaSet, replicationController, statefulSet } from './workloads.ts'

const namespace = 'coxswain-system'
const settings = { namespace, image: 'coxswain:1', replicas: () => 2 }
const user = { name: `system:serviceaccount:${namespace}:coxswain-publisher`, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'] }

/** Runs a publisher with the rights of its manifests alone. */
async function runPublisher(s: StockScene, stream: boolean) {
  const lines: string[] = []
  const transport = new NotedTransport(new InProcessTransport(s.cluster.server, user))
  const manager = new ControllerManager({
    transport, clock: s.clock, random: new SeededRandom(stream ? 5 : 6), gates: FeatureGates.of(), informers: { stream },
    controllers: publishers({ writesPerSecond: 50, clock: s.clock }),
    leaderElection: { namespace, name: 'coxswain-publisher', identity: stream ? 'one' : 'two' },
    logger: new Logger((line) => lines.push(line), 'info', {}, () => s.clock.now()),
  })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= (async () => {
    const ended = manager.stop()
    await s.pass(5000)
    await ended
  })())
  onTestFinished(stop)
  await manager.start()
  await s.pass(30_000)
  return { transport, manager, lines }
}

/** A stock cluster with RBAC, on which the publisher is installed. */
async function begin(): Promise<StockScene> {
  const s = await StockScene.begin({ authorization: [{ type: 'RBAC' }], isDefined: false })
  for (const object of objectsOf(['namespace', 'definitions', 'publisher'], settings, false)) await applyManifest(s, object)
  await s.client.transport.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: cloneSetDefinition })
  await settled()
  return s
}

const cloneSet = { ...replicaSet('c'), apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet' }

describe('the rights of the publisher', () => {
  it('are all that it needs, and no more', async () => {
    const s = await begin()
    const { transport: streaming } = await runPublisher(s, true)
    // Another one stands by, and knows servers that cannot stream.
    const { transport: listing } = await runPublisher(s, false)
    await s.client.create(statefulsets, statefulSet('s'))
    await s.client.create(daemonsets, daemonSet('d'))
    await s.client.create(replicasets, replicaSet('r'))
    await s.client.create(replicationcontrollers, replicationController('rc'))
    await s.client.create(jobs, job('j'))
    await s.client.create(clonesets, cloneSet as never)
    for (const app of ['s', 'd', 'r', 'rc', 'j']) await s.report(app)
    await s.pass(60_000)
    expect(await s.said(statefulsets, 's')).toContain('Available=True MinimumReplicasAvailable')

    const lists = await listedBy(s)
    const used = [...streaming.used, ...listing.used, ...lists]
    const granted = rightsIn(objectsOf(['publisher'], settings, false))
    expect([...streaming.refused, ...listing.refused]).toEqual([])
    expect(used.filter((right) => !granted.some((grant) => allows(grant, right))).map(textOf)).toEqual([])
    // An apply that makes its object needs the right to create it.
    const isImplied = ({ verb, resource }: Right) => verb === 'create' && resource === 'workloadstatuses.coxswain.dev'
    expect(granted.filter((grant) => !used.some((right) => allows(grant, right)) && !isImplied(grant)).map(textOf)).toEqual([])
  })

  it('are missed once in the log, in readiness and in a sentence of the server, until they are given back', async () => {
    const s = await begin()
    const { manager, lines } = await runPublisher(s, true)
    const rules = clusterRules['publisher']!
    const allow = (now: readonly Rule[]) => s.client.patch(clusterroles, '', 'coxswain-publisher', { rules: now } as never, { type: 'merge' })
    await allow(rules.map((one) => ({ ...one, resources: one.resources.filter((name) => name !== 'statefulsets/status') })).filter(({ resources }) => resources.length > 0))
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await s.client.create(statefulsets, statefulSet(name))
    await s.client.create(daemonsets, daemonSet('other'))
    for (const app of [...names, 'other']) await s.report(app)
    await s.pass(60_000)
    const sentence = `User "${user.name}" cannot patch resource "statefulsets/status" in API group "apps"`
    expect(manager.problems()).toEqual([`controller statefulsets-publisher: ${sentence}: 4 objects wait for it`])
    expect(lines.filter((line) => line.includes('cannot patch'))).toHaveLength(1)
    expect(await s.said(daemonsets, 'other')).toContain('Available=True MinimumReplicasAvailable')

    await allow(rules)
    await s.pass(5000)
    for (const name of names) expect(await s.said(statefulsets, name)).toContain('Available=True MinimumReplicasAvailable')
    expect(manager.problems()).toEqual([])
  }, 20_000)
})

/** The lists of a single publisher with a server that does not stream. */
async function listedBy(s: StockScene): Promise<Right[]> {
  const transport = new NotedTransport(new InProcessTransport(s.cluster.server, user))
  const manager = new ControllerManager({
    transport, clock: s.clock, random: new SeededRandom(9), gates: FeatureGates.of(), informers: { stream: false },
    controllers: publishers({ writesPerSecond: 50, clock: s.clock }),
  })
  await manager.start()
  const stopped = manager.stop()
  await s.pass(5000)
  await stopped
  expect([...transport.refused]).toEqual([])
  return transport.used
}
