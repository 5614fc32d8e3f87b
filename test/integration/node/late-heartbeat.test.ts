import { afterEach, describe, expect, it } from 'vitest'
import type { Deployment, StatefulSet } from '../../../src/api/generated/types.ts'
import {
  type ApiRequest, type KubeObject, type ResourceType, deployments, nodes, pods, replicasets, statefulsets,
} from '../../../src/client/index.ts'
import { SeededRandom } from '../../../src/cluster/testing.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { ControllerManager } from '../../../src/controllers/index.ts'
import { nodeLifecycle } from '../../../src/controllers/node-lifecycle/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { NodeScene } from './scene.ts'

// A node whose heartbeats are late, and which reaches the API all the same: who says whether its pods are ready.

let scene: NodeScene
let isSilent = false
const watches: (() => void)[] = []
afterEach(async () => {
  for (const end of watches.splice(0)) end()
  isSilent = false
  await stopLifecycle()
  await scene?.stop()
})

const second = 1000
const minute = 60_000
type Sent = Pick<ApiRequest, 'path'> & { method: string }
const isLease = ({ method, path }: Sent): boolean => method !== 'GET' && path.includes('/leases')
const isNodeStatus = ({ method, path }: Sent): boolean => method === 'PATCH' && path.endsWith('/nodes/n1/status')

/** The turns of a condition of an object, by name: `True`, `False True` … as watchers see them. */
const turns = new Map<string, string[]>()

function follow<T extends KubeObject>(type: ResourceType<T>, namespace: string, condition: string): void {
  const listener = {
    opened: () => {},
    closed: () => {},
    event: ({ type: kind, object }: { type: string; object: KubeObject }) => {
      const { status } = object as { status?: { conditions?: { type: string; status: string }[] } }
      const now = status?.conditions?.find((c) => c.type === condition)?.status
      const key = `${type.plural}/${object.metadata.uid}`
      const seen = turns.get(key) ?? []
      if (kind !== 'BOOKMARK' && now !== undefined && seen.at(-1) !== now) turns.set(key, [...seen, now])
    },
  }
  watches.push(scene.client.watch(type, namespace, {}, listener as never))
}

/** The changes since the last call, by kind. */
function seen(): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  for (const [key, states] of turns) (all[key.split('/')[0]!] ??= []).push(states.join(' '))
  for (const [key, states] of turns) turns.set(key, states.slice(-1))
  return all
}

const everywhere = (states: string) => ({
  nodes: [states.replaceAll('False', 'Unknown')],
  pods: [states, states, states, states],
  deployments: [states],
  replicasets: [states],
  statefulsets: [states],
})

let stopLifecycle = async () => {}

/** Starts the node life cycle controller, which keeps nothing of what an earlier one knew. */
async function startLifecycle(): Promise<void> {
  const { clock, cluster: { transport } } = scene
  const random = new SeededRandom(5)
  const manager = new ControllerManager({ clock, random, transport, controllers: [nodeLifecycle] })
  stopLifecycle = async () => {
    const stopped = manager.stop()
    await scene.pass(second)
    await stopped
  }
  const started = manager.start()
  await scene.pass(10)
  await started
}

/** A Deployment and a StatefulSet of two pods each, all of which are available. */
async function start(): Promise<void> {
  turns.clear()
  scene = await NodeScene.start({
    startMs: Date.parse('2026-01-01T12:00:00Z'),
    controllers: [deploymentController, replicaSetController, statefulSetController],
    faults: { at: (stage) => (stage === 'heartbeat' && isSilent ? { fail: 'silent' } : undefined) },
  })
  await startLifecycle()
  const podSpec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app:1' }] }
  const workload = (app: string) => {
    const labels = { app }
    const template = { metadata: { labels }, spec: podSpec }
    const spec = { replicas: 2, serviceName: app, selector: { matchLabels: labels }, template }
    return { metadata: { name: app, namespace: 'default' }, spec }
  }
  await scene.client.create(deployments, workload('web') as unknown as Deployment)
  await scene.client.create(statefulsets, workload('db') as unknown as StatefulSet)
  await scene.pass(30 * second)
  follow(nodes, '', 'Ready')
  follow(pods, 'default', 'Ready')
  for (const type of [deployments, replicasets, statefulsets]) follow<KubeObject>(type, 'default', 'Available')
  await scene.pass(second)
  expect(seen()).toEqual(everywhere('True'))
}

const outages: Record<string, { begin(): void; end(): void }> = {
  'whose heartbeats are held back': {
    begin: () => void (isSilent = true),
    end: () => void (isSilent = false),
  },
  'whose leases get lost, while it writes its status': {
    begin: () => void (scene.link.loses = isLease),
    end: () => void (scene.link.loses = undefined),
  },
  'whose leases and status get lost': {
    begin: () => void (scene.link.loses = (request) => isLease(request) || isNodeStatus(request)),
    end: () => void (scene.link.loses = undefined),
  },
}

describe('a node', () => {
  it.each(Object.entries(outages))('%s is lost once and back once, with pods and their owners', async (_, outage) => {
    const { begin, end } = outage
    await start()
    for (const outageMs of [2 * minute, 7 * minute]) {
      begin()
      await scene.pass(outageMs)
      expect(seen()).toEqual(everywhere('True False'))
      end()
      await scene.pass(30 * second)
      expect(seen()).toEqual(everywhere('False True'))
      await scene.pass(10 * minute)
      expect(seen()).toEqual(everywhere('True'))
    }
  })

  it('whose heartbeats take longer than its time of grace is lost until they are quick again', async () => {
    await start()
    scene.link.delayMs = (request) => (isLease(request) ? minute : 0)
    await scene.pass(10 * minute)
    expect(seen()).toEqual(everywhere('True False'))
    scene.link.delayMs = undefined
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('False True'))
  })

  it('hears later that it is lost than that its pods were marked, and does not contradict', async () => {
    await start()
    scene.link.lagsMs.set('/api/v1/nodes', 30 * second)
    isSilent = true
    await scene.pass(3 * minute)
    expect(seen()).toEqual(everywhere('True False'))
    isSilent = false
    await scene.pass(30 * second)
    expect(seen()).toEqual(everywhere('False True'))
  })

  it('says first that it is ready itself, and then that its pods are', async () => {
    await start()
    isSilent = true
    await scene.pass(2 * minute)
    scene.link.sent.length = 0
    isSilent = false
    await scene.pass(30 * second)
    const patched = scene.link.sent.filter(({ method }) => method === 'PATCH')
    const kinds = patched.map(({ path }) => path.replace(/.*(nodes|pods).*/, '$1'))
    expect(kinds).toEqual(['nodes', 'pods', 'pods', 'pods', 'pods'])
  })

  it('whose agent is started anew while it is lost says nothing of its pods until it is heard of', async () => {
    await start()
    isSilent = true
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('True False'))
    await scene.kill()
    await scene.startAgent()
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('False'))
    isSilent = false
    await scene.pass(30 * second)
    expect(seen()).toEqual(everywhere('False True'))
  })

  it('whose agent was away is back as soon as the agent is', async () => {
    await start()
    await scene.kill()
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('True False'))
    await scene.startAgent()
    await scene.pass(5 * second)
    expect(seen()).toEqual(everywhere('False True'))
  })

  it('stays as it is when the life cycle controller is started anew, lost or not', async () => {
    await start()
    isSilent = true
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('True False'))
    await stopLifecycle()
    await startLifecycle()
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('False'))
    isSilent = false
    await scene.pass(30 * second)
    expect(seen()).toEqual(everywhere('False True'))
    await stopLifecycle()
    await startLifecycle()
    await scene.pass(2 * minute)
    expect(seen()).toEqual(everywhere('True'))
  })
})

describe('a pod of a lost node', () => {
  const ready = async (name: string) => (await scene.condition(name, 'Ready'))?.status ?? 'nothing'

  it('that becomes ready is told to be so when the node is back', async () => {
    await start()
    isSilent = true
    await scene.pass(2 * minute)
    await scene.run('late')
    await scene.pass(minute)
    expect([await ready('late'), (await scene.pod('late')).status?.phase]).toEqual(['nothing', 'Running'])
    isSilent = false
    await scene.pass(30 * second)
    const { conditions } = (await scene.pod('late')).status
    expect(conditions?.map((c) => `${c.type}=${c.status}`)).toEqual([
      'PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True', 'PodScheduled=True',
    ])
  })

  it('is told as all else that becomes of it: its end, and that it is not ready', async () => {
    await start()
    await scene.run('job', { restartPolicy: 'Never' }, { 'coxswain.dev/simulate-exit-after': '3m' })
    isSilent = true
    await scene.pass(2 * minute)
    expect([await ready('job'), (await scene.pod('job')).status?.phase]).toEqual(['False', 'Running'])
    await scene.pass(2 * minute)
    expect(await scene.condition('job', 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' })
    expect((await scene.pod('job')).status?.phase).toBe('Succeeded')
  })
})

it('conditions of the Node that others write cost the agent no writes', async () => {
  await start()
  const theirs = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated', message: 'a route' }
  const patch = { status: { conditions: [theirs] } }
  scene.link.sent.length = 0
  await scene.client.patch(nodes, '', 'n1', patch, { type: 'strategic', subresource: 'status' })
  await scene.pass(minute)
  expect(scene.link.sent.filter(isNodeStatus)).toEqual([])
})
