import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import { type ApiRequest, daemonsets, deployments, pods } from '../../../src/client/index.ts'
import { kindNamed } from '../../../src/insight/workload/kinds.ts'
import { states } from '../../../src/insight/workload/said.ts'
import { workloadPage } from '../../../src/dashboard/pages/workload.ts'
import { cellStates } from '../../../src/dashboard/stream/columns.ts'
import { daemonSet } from '../stock/workloads.ts'
import { DashboardScene, type FakePage, reads } from './scene.ts'

const everything = [reads(['*'], '*')]
const cells = (page: FakePage, topic: string) => page.rows(topic).map(({ state }) => cellStates[state as number])
const listed = (page: FakePage) => page.rows('workloads').map(({ namespace, name, state }) => `${namespace}/${name} ${states[state as number]}`).toSorted()

describe('the pods of a workload', () => {
  const topic = 'pods Deployment default/web'

  it('become available with time, without an event', async () => {
    const scene = await DashboardScene.start()
    await scene.allow('jane', everything)
    await scene.deployment('web', 2, 'default', { minReadySeconds: 30 })
    const page = scene.page(await scene.viewer('jane'))
    page.show(topic)
    await scene.report('ready', 'web')
    expect(cells(page, topic)).toEqual(['waiting', 'waiting'])
    await scene.pass(30_000)
    expect(cells(page, topic)).toEqual(['available', 'available'])
  })

  it('that do not end within their grace period are in trouble', async () => {
    const scene = await DashboardScene.start()
    await scene.allow('jane', everything)
    await scene.deployment('web', 1)
    await scene.report('ready', 'web')
    const page = scene.page(await scene.viewer('jane'))
    page.show(topic)
    const [pod] = await scene.podsOf('web')
    await scene.cluster.client.delete(pods, 'default', pod!.metadata.name!, { gracePeriodSeconds: 20 })
    await scene.pass(1000)
    expect(cells(page, topic)).toContain('ending')
    await scene.pass(31_000)
    expect(cells(page, topic)).toContain('trouble')
  })

  it('are read again after an error', async () => {
    const scene = await DashboardScene.start(({ path }) => path.includes('controllerrevisions'))
    await scene.allow('jane', everything)
    await scene.cluster.client.create(daemonsets, daemonSet('agent'))
    await scene.node('n1')
    await scene.pass(3000)
    scene.transport.faults = { drop: 1 }
    const page = scene.page(await scene.viewer('jane'))
    page.show('pods DaemonSet default/agent')
    await scene.pass(15_000)
    expect(page.rows('pods DaemonSet default/agent')).toEqual([])
    expect(scene.log.join()).toContain('the revisions of a workload cannot be read')
    scene.transport.faults = {}
    await scene.pass(10_000)
    expect(page.rows('pods DaemonSet default/agent')).toHaveLength(1)
  })
})

describe('what a viewer may not read', () => {
  it('is not in the stream: namespaces, nodes, pods', async () => {
    const scene = await DashboardScene.start()
    await scene.namespace('shop')
    await scene.allow('jane', [reads(['apps'], 'deployments')], 'shop')
    await scene.deployment('web', 1, 'shop')
    await scene.deployment('other', 1)
    const page = scene.page(await scene.viewer('jane'))
    page.show('workloads', 'nodes', 'pods Deployment shop/web', 'pods Deployment default/other')
    await scene.pass(1000)
    expect(listed(page)).toEqual(['shop/web Progressing'])
    expect([...page.errors]).toEqual([
      ['nodes', 'User "jane" cannot list nodes'],
      ['pods Deployment shop/web', 'User "jane" cannot list pods in namespace "shop"'],
      ['pods Deployment default/other', 'User "jane" cannot list pods in namespace "default"'],
    ])
  })

  it('leaves the stream when the right is lost, and returns with it', async () => {
    const scene = await DashboardScene.start()
    await scene.allow('jane', [reads(['', 'apps'], 'deployments', 'pods')])
    await scene.deployment('web', 1)
    const page = scene.page(await scene.viewer('jane'))
    const topic = 'pods Deployment default/web'
    page.show('workloads', topic)
    await scene.pass(1000)
    expect([listed(page), page.rows(topic)]).toEqual([['default/web Progressing'], [expect.anything()]])
    await scene.allow('jane', [])
    await scene.pass(20_000)
    expect([listed(page), page.errors.get(topic)]).toEqual([[], 'User "jane" cannot list pods in namespace "default"'])
    await scene.report('ready', 'web')
    expect(page.socket.texts).toEqual([])
    await scene.allow('jane', [reads(['', 'apps'], 'deployments', 'pods')])
    await scene.pass(20_000)
    expect([listed(page), cells(page, topic)]).toEqual([['default/web Available'], ['available']])
  })
})

it('a stream ends with its session when the API server no longer knows the user', async () => {
  const scene = await DashboardScene.start()
  await scene.allow('jane', everything)
  let isExpired = false
  const viewer = await scene.viewer('jane', (transport) => {
    const send = transport.send.bind(transport)
    transport.send = <T>(request: ApiRequest) => (isExpired ? Promise.reject(new ApiError(401, 'Unauthorized', 'Unauthorized', {})) : send<T>(request))
    return transport
  })
  const page = scene.page(viewer)
  page.show('workloads')
  await scene.pass(10_000)
  isExpired = true
  expect(page.socket.closed).toBeUndefined()
  await scene.pass(10_000)
  expect([page.socket.closed, viewer.ended.aborted]).toEqual([4401, true])
})

describe('nodes', () => {
  it('count the pods that run on them, for viewers who may list all pods', async () => {
    const scene = await DashboardScene.start()
    await scene.allow('jane', everything)
    await scene.allow('joe', [reads([''], 'nodes')])
    await scene.node('n1')
    await scene.deployment('web', 3)
    await scene.report('ready', 'web')
    const [one] = await scene.podsOf('web')
    const pages = [scene.page(await scene.viewer('jane')), scene.page(await scene.viewer('joe'))]
    for (const page of pages) page.show('nodes')
    await scene.pass(1000)
    expect(pages.map((page) => page.rows('nodes').map(({ pods: count }) => count))).toEqual([[3], [-1]])
    await scene.cluster.client.patch(pods, 'default', one!.metadata.name!, { status: { phase: 'Failed' } } as never, { type: 'merge', subresource: 'status' })
    await scene.cluster.client.patch(deployments, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    await scene.pass(1000)
    expect(pages[0]!.rows('nodes').map(({ pods: count }) => count)).toEqual([2])
  })
})

describe('a workload page', () => {
  it('has the dependents and counts that its viewer may list', async () => {
    const scene = await DashboardScene.start()
    await scene.deployment('web', 2)
    await scene.allow('jane', [reads(['', 'apps'], 'deployments', 'replicasets', 'pods')])
    await scene.allow('joe', [reads(['apps'], 'deployments')])
    const trees = []
    for (const name of ['jane', 'joe']) {
      const query = { kind: kindNamed('Deployment'), namespace: 'default', name: 'web' }
      trees.push((await workloadPage(await scene.viewer(name), scene.running.caches, scene.running.explanations, scene.clock, query)).tree)
    }
    expect(trees[0]).toMatchObject({ note: '2 pods', children: [{ kind: 'ReplicaSet', note: '2 pods', revision: '1' }] })
    expect(trees[1]).toMatchObject({ name: 'web', note: '', children: [] })
  })
})
