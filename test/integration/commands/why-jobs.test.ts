import { describe, expect, it } from 'vitest'
import { runStatus } from '../../../src/cli/status/run.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import { jobs, nodes, pods, resourcequotas } from '../../../src/client/index.ts'
import type { Session } from '../../../src/cli/session.ts'
import { CommandScene } from './scene.ts'

const why = (session: Session) => runWhy(session, ['job/import'], undefined)
const status = (session: Session) =>
  runStatus(session, {
    args: ['job/import'], allNamespaces: false, showOwned: false, form: undefined, watch: false, selector: undefined,
  })

/** A Job of three pods that run until they are told otherwise. */
async function running(spec: object = {}): Promise<CommandScene> {
  const scene = await CommandScene.start()
  const annotations = { 'coxswain.dev/simulate-exit-after': 'never' }
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] }
  const template = { metadata: { annotations }, spec: podSpec }
  const object = { parallelism: 3, completions: 3, ...spec, template }
  await scene.create(jobs, { metadata: { name: 'import', namespace: 'default' }, spec: object })
  await scene.pass(5000)
  return scene
}

/** Has the node report that the pod has failed. */
async function fail(scene: CommandScene, index = 0): Promise<string> {
  const { items } = await scene.cluster.client.list(pods, 'default')
  const pod = items.filter((one) => one.status?.phase === 'Running')[index]!
  const now = new Date(scene.clock.now()).toISOString().replace(/\.\d+/, '')
  const terminated = { exitCode: 3, reason: 'Error', startedAt: now, finishedAt: now }
  const patch = {
    status: {
      phase: 'Failed',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now }],
      containerStatuses: [{ ...pod.status!.containerStatuses![0], ready: false, state: { terminated } }],
    },
  }
  await scene.cluster.client.patch(
    pods, 'default', pod.metadata.name!, patch, { type: 'merge', subresource: 'status' },
  )
  await scene.pass(1000)
  return pod.metadata.name!
}

const conditions = async (scene: CommandScene): Promise<string[]> => {
  const { status: { conditions: all = [] } = {} } = await scene.cluster.client.get(jobs, 'default', 'import')
  return (all as { type: string; message: string }[]).map(({ type, message }) => `${type}: ${message}`)
}

const due = String.raw`fter 1 failure in a row, the next pod is due at 2026-01-01T00:00:\d\dZ\.`

describe('why of a Job that runs', () => {
  it('says that a pod is missing until the back-off ends, and names the pod that the condition names', async () => {
    const scene = await running()
    const name = await fail(scene)
    const { code, out } = await scene.run(why)
    expect(out).toMatch(/^job\/import is running: 2 of 3 pods active, 0 of 3 completions/)
    expect(out).toMatch(new RegExp(`\nPod ${name} has lost container "main": exit code 3, since`))
    expect(out).toMatch(new RegExp(`\nJob import backs off: a${due}`))
    expect(code).toBe(3)
    const [text] = (await conditions(scene)).filter((one) => one.startsWith('Running: '))
    expect(text).toMatch(new RegExp(`^Running: A pod is running\\. A${due} Pod ${name} has lost container`))
    expect((await scene.run(status)).out).toMatch(new RegExp(`job/import +Running +2/3 .*Pod ${name} has lost`))
    await scene.pass(30_000)
    expect(await scene.run(why)).toMatchObject({ code: 0, out: expect.stringContaining('running: 3 pods active') })
    expect(await conditions(scene)).toContain('Running: A pod is running.')
  })

  it('says it of an index that has a back-off of its own', async () => {
    const scene = await running({ completionMode: 'Indexed', backoffLimitPerIndex: 2 })
    const name = await fail(scene, 1)
    const { out } = await scene.run(why)
    expect(out).toMatch(/Job import backs off: after 1 failure of index \d, its next pod is due at 2026-01-01T00:00:/)
    expect(out).toContain(`Pod ${name} has lost container`)
  })

  it('names the quota that refuses the pods that are missing, once', async () => {
    const scene = await running({ parallelism: 1 })
    await scene.create(resourcequotas, {
      metadata: { name: 'small', namespace: 'default' }, spec: { hard: { pods: '1' } },
    })
    await scene.pass(2000)
    await scene.cluster.client.patch(jobs, 'default', 'import', { spec: { parallelism: 3 } }, { type: 'merge' })
    await scene.pass(2000)
    const { code, out } = await scene.run(why)
    expect(code).toBe(3)
    expect(out).toMatch(/^job\/import is running: 1 of 3 pods active/)
    expect(out).toMatch(/\nJob import cannot create a pod: pods "[\w-]+" is forbidden: exceeded quota: small/)
    expect(out.match(/cannot create a pod/g)).toHaveLength(1)
  })

  it('names the node that has stopped reporting, also while pods are deleted from it', async () => {
    const scene = await running()
    const [pod] = (await scene.cluster.client.list(pods, 'default')).items
    const conditions = [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-01-01T00:00:05Z' }]
    await scene.create(nodes, { metadata: { name: 'lost' } })
    await scene.cluster.client.patch(
      nodes, '', 'lost', { status: { conditions } }, { type: 'merge', subresource: 'status' },
    )
    await scene.create(pods, {
      metadata: { ...pod!.metadata, name: 'import-lost', uid: undefined, resourceVersion: undefined },
      spec: { ...pod!.spec, nodeName: 'lost' },
    })
    await scene.cluster.client.delete(pods, 'default', 'import-lost')
    await scene.pass(1000)
    const { code, out } = await scene.run(why)
    expect(out).toMatch(/\nPod import-lost cannot be deleted: it is on node lost, which has stopped reporting, since/)
    expect(code).toBe(3)
  })
})
