import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.ts'
import {
  Client, type ControllerRevision, type Deployment, type StatefulSet,
  controllerrevisions, deployments, replicasets, statefulsets,
} from '../../../src/client/index.ts'
import { ControllerManager, type ControllerManagerOptions } from '../../../src/controllers/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { type World, httpWorld, inProcessWorld } from '../worlds.ts'

const revision = 'deployment.kubernetes.io/revision'
const labels = { app: 'web' }
const namespace = 'default'
const selector = { matchLabels: labels }
const template = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image, resources: {} }] },
})
const setImage = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })

const worlds: [how: string, start: () => Promise<World>][] = [
  ['over HTTP', httpWorld],
  ['in the process', inProcessWorld],
]

describe.each(worlds)('revisions beyond 2^53 %s', (_, start) => {
  let world: World
  let manager: ControllerManager
  let client: Client

  async function begin(controllers: ControllerManagerOptions['controllers']): Promise<void> {
    world = await start()
    const { transport, clock, random } = world
    client = new Client(transport, { clock, random })
    manager = new ControllerManager({ transport, controllers, clock, random, logger: silentLogger })
    await manager.start()
  }

  /** Lets the controllers do what they have to. */
  const pass = async () => {
    for (let second = 0; second < 5; second++) await world.pass(1000)
  }

  afterEach(async () => {
    const stopped = manager.stop()
    await world.pass(10_000)
    await stopped
    await world.close()
  })

  it('a Deployment that adopts a ReplicaSet counts on from its number', async () => {
    await begin([deploymentController, replicaSetController])
    const numbered = { name: 'adopted', namespace, labels, annotations: { [revision]: '3546343826724305832' } }
    const adopted = { metadata: numbered, spec: { replicas: 1, selector, template: template('httpd') } }
    await client.create(replicasets, adopted as never)
    const spec = { replicas: 1, selector, template: template('nginx') }
    await client.create(deployments, { metadata: { name: 'web', namespace }, spec } as never)
    await pass()
    const read = async () => (await client.get(deployments, namespace, 'web')).metadata.annotations?.[revision]
    const sets = async () => (await client.list(replicasets, namespace)).items
    const numbers = async () => (await sets()).map(({ metadata }) => metadata.annotations?.[revision]).sort()
    expect(await read()).toBe('3546343826724305833')
    expect(await numbers()).toEqual(['3546343826724305832', '3546343826724305833'])
    // Back to the adopted one: its number is the next, and the one it had is remembered.
    await client.patch<Deployment>(deployments, namespace, 'web', setImage('httpd'), { type: 'strategic' })
    await pass()
    expect(await read()).toBe('3546343826724305834')
    expect((await client.get(replicasets, namespace, 'adopted')).metadata.annotations).toMatchObject({
      [revision]: '3546343826724305834',
      'deployment.kubernetes.io/revision-history': '3546343826724305832',
    })
  })

  it('a StatefulSet that adopts a ControllerRevision counts on from its number', async () => {
    await begin([statefulSetController])
    const data = { spec: { template: { $patch: 'replace' } } }
    const metadata = { name: 'web-adopted', namespace, labels }
    await client.create<ControllerRevision>(controllerrevisions, { metadata, revision: 3546343826724305832n, data })
    const spec = { replicas: 1, serviceName: '', selector, template: template('app:1') }
    await client.create(statefulsets, { metadata: { name: 'web', namespace }, spec } as never)
    await pass()
    await client.patch<StatefulSet>(statefulsets, namespace, 'web', setImage('app:2'), { type: 'strategic' })
    await pass()
    const numbers = async () => (await client.list(controllerrevisions, namespace)).items.map((r) => r.revision).sort()
    expect(await numbers()).toEqual([3546343826724305832n, 3546343826724305833n, 3546343826724305834n])
    await client.patch<StatefulSet>(statefulsets, namespace, 'web', setImage('app:1'), { type: 'strategic' })
    await pass()
    expect(await numbers()).toEqual([3546343826724305832n, 3546343826724305834n, 3546343826724305835n])
  })
})
