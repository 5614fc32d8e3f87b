import { describe, expect, it } from 'vitest'
import { deployments, pods } from '../../../src/client/index.ts'
import { type ActionRequest, type Confirmed, act, deletePod } from '../../../src/dashboard/pages/actions.ts'
import { kindNamed } from '../../../src/insight/workload/kinds.ts'
import { DashboardScene } from './scene.ts'

async function scene() {
  const { cluster, clock, deployment, pass, ...rest } = await started()
  const { client } = cluster
  const request = (isDry: boolean, of: ActionRequest, confirmed?: Confirmed) =>
    act(client, clock, { kind: kindNamed('Deployment'), namespace: 'default', name: 'web', request: of, isDry, confirmed })
  const spec = async () => (await client.get(deployments, 'default', 'web')).spec
  const change = (body: object) => client.patch(deployments, 'default', 'web', body, { type: 'merge' })
  return { ...rest, client, change, deployment, pass, request, spec }
}

async function started() {
  const one = await DashboardScene.start()
  await one.deployment('web', 2)
  return { cluster: one.cluster, clock: one.clock, deployment: one.deployment.bind(one), pass: one.pass.bind(one), podsOf: one.podsOf.bind(one) }
}

describe('act()', () => {
  it.each<[string, ActionRequest]>([['scale', { action: 'scale', replicas: 5 }], ['pause', { action: 'pause' }], ['restart', { action: 'restart' }]])('does what was confirmed: %s', async (_, wanted) => {
    const { client, request } = await scene()
    const before = await client.get(deployments, 'default', 'web')
    const told = await request(true, wanted)
    expect((await client.get(deployments, 'default', 'web')).spec).toEqual(before.spec)
    expect(await request(false, wanted, told)).toEqual(told)
    expect((await client.get(deployments, 'default', 'web')).spec).not.toEqual(before.spec)
  })

  it('does what was confirmed although the status has changed meanwhile', async () => {
    const { client, request, spec } = await scene()
    const told = await request(true, { action: 'scale', replicas: 5 })
    await client.patch(deployments, 'default', 'web', { metadata: { annotations: { other: 'change' } } }, { type: 'merge' })
    await request(false, { action: 'scale', replicas: 5 }, told)
    expect((await spec()).replicas).toBe(5)
  })

  it('is rejected if its effect is another one now', async () => {
    const { change, request, spec } = await scene()
    const told = await request(true, { action: 'scale', replicas: 3 })
    await change({ spec: { replicas: 4 } })
    await expect(request(false, { action: 'scale', replicas: 3 }, told)).rejects.toMatchObject({ code: 409, message: 'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again' })
    expect((await spec()).replicas).toBe(4)
  })

  it('undoes to the revision of the confirmation only', async () => {
    const { change, pass, request, spec } = await scene()
    const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: name }] } } } })
    const imageNow = async () => (await spec()).template.spec?.containers[0]?.image
    await change(image('app:2'))
    await pass(2000)
    const told = await request(true, { action: 'undo' })
    expect(told.sentence).toContain('The template of revision 1 becomes the present one.')
    await change(image('app:3'))
    await pass(2000)
    await expect(request(false, { action: 'undo' }, told)).rejects.toMatchObject({ code: 409 })
    expect(await imageNow()).toBe('app:3')
    await request(false, { action: 'undo' }, await request(true, { action: 'undo' }))
    expect(await imageNow()).toBe('app:2')
  })

  it('is rejected for an object that has been made anew under the same name', async () => {
    const { client, deployment, pass, request, spec } = await scene()
    const told = await request(true, { action: 'scale', replicas: 3 })
    await client.delete(deployments, 'default', 'web')
    await pass(5000)
    await deployment('web', 2)
    await expect(request(false, { action: 'scale', replicas: 3 }, told)).rejects.toMatchObject({ code: 409, message: expect.stringContaining('UID in precondition') })
    expect((await spec()).replicas).toBe(2)
  })
})

it('deletePod() deletes the pod of the confirmation only', async () => {
  const { client, podsOf } = await scene()
  const [pod] = await podsOf('web')
  const { namespace = '', name = '' } = pod!.metadata
  const told = await deletePod(client, namespace, name, true, undefined)
  await expect(deletePod(client, namespace, name, false, { ...told, uid: 'that-of-the-pod-before' })).rejects.toMatchObject({ code: 409 })
  await client.get(pods, namespace, name)
  await deletePod(client, namespace, name, false, told)
  await expect(client.get(pods, namespace, name)).rejects.toMatchObject({ code: 404 })
})
