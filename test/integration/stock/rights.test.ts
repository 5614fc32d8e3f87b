import { describe, expect, it, onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import { clonesets, daemonsets, jobs, replicasets, replicationcontrollers, statefulsets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, settled } from '../../../src/cluster/testing.ts'
import { objectsOf } from '../../../src/cluster/manifests/index.ts'
import { ControllerManager, publishers } from '../../../src/controllers/index.ts'
import { cloneSetDefinition } from './definitions.ts'
import { applyManifest } from './manifest.ts'
import { NotedTransport, type Right, allows, rightsIn, textOf } from './rights.ts'
import { StockScene } from './stock-scene.ts'
import { daemonSet, job, replicaSet, replicationController, statefulSet } from './workloads.ts'

const namespace = 'coxswain-system'
const settings = { namespace, image: 'coxswain:1', replicas: () => 2 }
const user = { name: `system:serviceaccount:${namespace}:coxswain-publisher`, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'] }

async function runPublisher(s: StockScene, stream: boolean): Promise<NotedTransport> {
  const transport = new NotedTransport(new InProcessTransport(s.cluster.server, user))
  const manager = new ControllerManager({
    transport, clock: s.clock, random: new SeededRandom(stream ? 5 : 6), gates: FeatureGates.of(), informers: { stream },
    controllers: publishers({ writesPerSecond: 50, clock: s.clock }),
    leaderElection: { namespace, name: 'coxswain-publisher', identity: stream ? 'one' : 'two' },
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
  return transport
}

const cloneSet = { ...replicaSet('c'), apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet' }

describe('the rights of the publisher', () => {
  it('are all that it needs, and no more', async () => {
    const s = await StockScene.begin({ authorization: [{ type: 'RBAC' }], isDefined: false })
    for (const object of objectsOf(['namespace', 'definitions', 'publisher'], settings, false)) await applyManifest(s, object)
    await s.client.transport.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: cloneSetDefinition })
    await settled()
    const streaming = await runPublisher(s, true)
    // Another one stands by, and knows servers that cannot stream.
    const listing = await runPublisher(s, false)
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
