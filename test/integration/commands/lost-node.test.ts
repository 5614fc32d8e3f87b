import { expect, it } from 'vitest'
import { runStatus } from '../../../src/cli/status/run.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import { daemonsets, nodes, pods } from '../../../src/client/index.ts'
import type { Session } from '../../../src/cli/session.ts'
import { CommandScene, workload } from './scene.ts'

const all = { allNamespaces: false, showOwned: false, form: undefined, watch: false, selector: undefined }
const status = (session: Session) => runStatus(session, { ...all, args: ['ds'] })
const why = (session: Session) => runWhy(session, ['ds/agent'], undefined)

it('status and why agree on a DaemonSet of which a node is lost', async () => {
  const scene = await CommandScene.start()
  const { client } = scene.cluster
  const now = () => new Date(scene.clock.now()).toISOString().replace(/\.\d+/, '')
  await scene.create(daemonsets, workload('agent', {}))
  await scene.create(nodes, { metadata: { name: 'n2' } })
  const room = { cpu: '4', memory: '8Gi', pods: '110' }
  const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: now(), lastTransitionTime: now() }
  const up = { status: { allocatable: room, capacity: room, conditions: [ready] } }
  await client.patch(nodes, '', 'n2', up, { type: 'merge', subresource: 'status' })
  await scene.pass(5000)
  const lost = (await client.list(pods, 'default')).items.find(({ spec }) => spec.nodeName === 'n2')!.metadata.name!
  const containerStatuses = [
    { name: 'main', image: 'app:1', imageID: '', ready: true, started: true, restartCount: 0, state: { running: {} } },
  ]
  const runs = { status: { phase: 'Running', conditions: [ready], containerStatuses } }
  await client.patch(pods, 'default', lost, runs, { type: 'merge', subresource: 'status' })
  await scene.pass(5000)
  expect((await scene.run(status)).out).toMatch(/daemonset\/agent +Available +2\/2 /)
  const well = { code: 0, out: 'daemonset/agent is available: 2 of 2 pods are available.\n' }
  expect(await scene.run(why)).toMatchObject(well)
  await scene.pass(60_000)
  const sentence = `Pod ${lost} is on node n2, which has stopped reporting`
  expect((await scene.run(status)).out).toMatch(new RegExp(`daemonset/agent +Degraded +1/1 .* ${sentence}`))
  const { code, out } = await scene.run(why)
  expect({ code, head: out.split('\n')[0] }).toEqual({
    code: 3,
    head: 'daemonset/agent is degraded: 1 of 1 pod is available, 1 more is on a node that is not to run one.',
  })
  expect(out).toContain(`\n${sentence}, since`)
})
