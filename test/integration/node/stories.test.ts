import { afterEach, describe, expect, it } from 'vitest'
import { pods } from '../../../src/client/index.ts'
import type { Fault, Faults, Stage } from '../../../src/node/index.ts'
import { NodeScene } from './scene.ts'

// The stories of KEP-3085 with its own times. The node hears of everything a second after it has happened.

let scene: NodeScene
afterEach(() => scene?.stop())

const sandbox = 'PodReadyToStartContainers'

/** A plan of which each stage can be changed while time passes. */
class Plan implements Faults {
  readonly #faults = new Map<Stage, Fault>()

  set(stage: Stage, fault: Fault): this {
    this.#faults.set(stage, fault)
    return this
  }

  at(stage: Stage): Fault | undefined {
    return this.#faults.get(stage)
  }
}

const begin = async (time: string, faults: Faults) => {
  scene = await NodeScene.start({ startMs: Date.parse(time) - 60_000, faults, latencyMs: 1000 })
  await scene.createPod('pod')
  await scene.passTo(time)
  await scene.bind('pod')
}

/** The condition of the pod at a time, in the form `status since`. */
const at = async (time: string, type = sandbox): Promise<string> => {
  await scene.passTo(time)
  const condition = await scene.condition('pod', type)
  return condition ? `${condition.status} ${condition.lastTransitionTime}` : 'nothing'
}

/** The beginning of every story: scheduled at :46, taken by the node at :47. */
const isTaken = async () => {
  expect(await at('2022-12-06T15:33:47Z')).toBe('False 2022-12-06T15:33:47Z')
  expect(await at('2022-12-06T15:33:47Z', 'PodScheduled')).toBe('True 2022-12-06T15:33:46Z')
}

it('story 1: a healthy node has the sandbox ready after three seconds', async () => {
  await begin('2022-12-06T15:33:46Z', new Plan().set('sandbox', { delayMs: 2000 }))
  await isTaken()
  expect(await at('2022-12-06T15:33:50Z')).toBe('True 2022-12-06T15:33:49Z')
  expect(await at('2022-12-06T15:33:50Z', 'PodScheduled')).toBe('True 2022-12-06T15:33:46Z')
})

it('is ready to start containers before an image is pulled', async () => {
  await begin('2022-12-06T15:33:46Z', new Plan().set('sandbox', { delayMs: 2000 }).set('image', { delayMs: 60_000 }))
  expect(await at('2022-12-06T15:33:50Z')).toBe('True 2022-12-06T15:33:49Z')
  const { status } = await scene.pod('pod')
  expect(status?.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'ContainerCreating' } })
  expect(status?.phase).toBe('Pending')
})

describe('story 2: a delay of nine seconds', () => {
  it.each<[string, Stage]>([['attaching a volume', 'volumes'], ['getting an address', 'network'], ['starting a microVM', 'sandbox']])('when %s', async (_, stage) => {
    await begin('2022-12-06T15:33:46Z', new Plan().set(stage, { delayMs: 9000 }))
    await isTaken()
    expect(await at('2022-12-06T15:34:00Z')).toBe('True 2022-12-06T15:33:56Z')
  })
})

describe('story 3: it never succeeds, and says why', () => {
  const volumes = 'Unable to attach or mount volumes: out of order'
  const failed = 'Failed to create pod sandbox: out of order'
  it.each<[string, Stage, string, string, string]>([
    ['attaching a volume', 'volumes', 'FailedMount', 'VolumeMountFailed', volumes],
    ['getting an address', 'network', 'FailedCreatePodSandBox', 'NetworkNotReady', failed],
    ['starting a microVM', 'sandbox', 'FailedCreatePodSandBox', 'SandboxCreateFailed', failed],
  ])('when %s', async (_, stage, eventReason, reason, message) => {
    await begin('2022-12-06T15:33:46Z', new Plan().set(stage, { fail: 'out of order' }))
    await isTaken()
    for (const time of ['2022-12-06T15:34:00Z', '2022-12-06T15:43:46Z', '2022-12-06T16:33:46Z']) {
      expect(await at(time)).toBe('False 2022-12-06T15:33:47Z')
      expect(await scene.condition('pod', sandbox)).toMatchObject({ reason, message })
    }
    // The node reports that it accepted the pod, and why it does not continue.
    expect(scene.link.patches('pod').length).toBe(2)
    expect(await scene.events(eventReason)).toMatchObject([{ message }])
  })
})

describe('story 4: the sandbox is lost after two hours', () => {
  const faults = new Plan()
  const untilLost = async () => {
    await begin('2022-12-06T15:33:46Z', faults.set('sandbox', { delayMs: 5000 }))
    expect(await at('2022-12-06T15:34:00Z')).toBe('True 2022-12-06T15:33:52Z')
    faults.set('sandbox', { delayMs: 6000 })
  }

  it('by a crash of the node', async () => {
    await untilLost()
    await scene.passTo('2022-12-06T17:33:45Z')
    await scene.kill()
    scene.runtime.reboot()
    await scene.passTo('2022-12-06T17:33:46Z')
    scene.link.latencyMs = 0
    await scene.startAgent()
    expect(await at('2022-12-06T17:33:46.500Z')).toBe('False 2022-12-06T17:33:46Z')
    expect(await at('2022-12-06T17:34:00Z')).toBe('True 2022-12-06T17:33:52Z')
    const { status } = await scene.pod('pod')
    expect(status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true, lastState: { terminated: { reason: 'ContainerStatusUnknown', exitCode: 137 } } })
  })

  it('by a crash of the sandbox', async () => {
    await untilLost()
    await scene.passTo('2022-12-06T17:33:46Z')
    const [lost] = await scene.runtime.listPodSandboxes()
    scene.runtime.crashSandbox(lost!.id)
    expect(await at('2022-12-06T17:33:46.500Z')).toBe('False 2022-12-06T17:33:46Z')
    expect(await at('2022-12-06T17:34:00Z')).toBe('True 2022-12-06T17:33:52Z')
    const { status } = await scene.pod('pod')
    expect(status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 137 } } })
  })
})

it('story 5: what is deleted says that its sandbox is gone before it is gone itself', async () => {
  const annotations = { 'coxswain.dev/simulate-stop-after': '1s' }
  scene = await NodeScene.start({ startMs: Date.parse('2022-12-06T12:33:00Z'), faults: new Plan().set('sandbox', { delayMs: 1000 }), latencyMs: 1000 })
  await scene.createPod('pod', {}, annotations)
  await scene.passTo('2022-12-06T12:33:46Z')
  await scene.bind('pod')
  expect(await at('2022-12-06T15:33:46Z')).toBe('True 2022-12-06T12:33:48Z')
  await scene.passTo('2022-12-06T15:33:47Z')
  const told: string[] = []
  const end = scene.client.watch(pods, 'default', { resourceVersion: (await scene.pod('pod')).metadata.resourceVersion! }, {
    opened: () => {},
    closed: () => {},
    event: ({ type, object }) => {
      if (type === 'BOOKMARK') return
      const condition = object.status?.conditions?.find((c) => c.type === sandbox)
      told.push(`${type} ${object.metadata.deletionTimestamp ? 'going' : 'there'} ${condition?.status} ${condition?.lastTransitionTime}`)
    },
  })
  await scene.client.delete(pods, 'default', 'pod')
  await scene.passTo('2022-12-06T15:33:50Z')
  end()
  expect(await scene.exists('pod')).toBe(false)
  expect(told.at(0)).toBe('MODIFIED going True 2022-12-06T12:33:48Z')
  expect(told).toContain('MODIFIED going False 2022-12-06T15:33:49Z')
  expect(told.at(-1)).toBe('DELETED going False 2022-12-06T15:33:49Z')
})
