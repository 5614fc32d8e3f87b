import type { ContainerStatus, Pod } from '../../../src/api/generated/types.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { controllerOf, persistentvolumeclaims, pods } from '../../../src/client/index.ts'
import { isPodFinished, isPodReady, timestamp } from '../../../src/controllers/kit/workload/index.ts'
import type { World } from '../world.ts'
import { troubleOf } from './troubles.ts'

/** The percentage of running pods that fail. */
const failures = 8

/** Tries until it is done, or the pod is not there any more. */
export function untilDone(world: World, pod: KubeObject, delayMs: number, act: (current: Pod) => Promise<unknown>): void {
  world.timeline.after(delayMs, () => {
    const current = world.truth.get(pods.plural, `default/${pod.metadata.name}`) as Pod | undefined
    if (current?.metadata.uid === pod.metadata.uid) act(current!).catch(() => untilDone(world, pod, 1000, act))
  })
}

const containerOf = ({ spec }: Pod, state: object, isReady: boolean): Partial<ContainerStatus> =>
  ({ name: spec.containers[0]!.name, image: spec.containers[0]!.image!, imageID: '', restartCount: 0, ready: isReady, state, lastState: {} })

/** The node's status of a pod whose image behaves at random. */
function statusOf(world: World, pod: Pod, isFailed: boolean): object {
  const trouble = troubleOf(pod.spec)
  const isReady = !isFailed && trouble !== 'absent' && trouble !== 'unready'
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timestamp(world.timeline.nowMs) }]
  if (isFailed || !trouble) return { phase: isFailed ? 'Failed' : 'Running', conditions }
  if (trouble !== 'absent') return { phase: 'Running', conditions, containerStatuses: [containerOf(pod, { running: {} }, isReady)] }
  const waiting = { reason: 'ErrImagePull', message: 'no such image' }
  return { phase: 'Pending', conditions, containerStatuses: [containerOf(pod, { waiting }, false)] }
}

/** Takes every pod in, makes it ready or fails it, and ends it when it is to go. `nodeFor` says where it may run, if there is such a node. */
export function runPods(world: World, nodeFor?: (pod: Pod) => string | undefined): void {
  const random = world.random.fork('nodes')
  const { userClient: client } = world
  const report = async (pod: Pod) => {
    if (pod.metadata.deletionTimestamp || isPodFinished(pod) || isPodReady(pod)) return
    const { name = '' } = pod.metadata
    const missing = claimNamesOf(pod).find((claim) => !world.truth.get(persistentvolumeclaims.plural, `default/${claim}`))
    if (missing) throw new Error(`${missing} is not there yet`)
    if (!pod.spec.nodeName) {
      const node = nodeFor ? nodeFor(pod) : random.pick(['n1', 'n2'])
      if (!node) throw new Error(`there is no node for ${name}`)
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: node } }
      await client.transport.send({ method: 'POST', path: `/api/v1/namespaces/default/pods/${name}/binding`, body })
    }
    const isFailed = random.below(100) < failures && !troubleOf(pod.spec)
    await client.patch(pods, 'default', name, { status: statusOf(world, pod, isFailed) }, { type: 'strategic', subresource: 'status' })
  }
  const end = ({ metadata: { name = '', uid } }: Pod) => client.delete(pods, 'default', name, { uid, gracePeriodSeconds: 0 })
  world.truth.onChange(({ plural, before, after }) => {
    if (plural !== pods.plural || !after) return
    if (!before || before.metadata.uid !== after.metadata.uid) untilDone(world, after, 100 + random.below(4000), report)
    if (after.metadata.deletionTimestamp && !before?.metadata.deletionTimestamp) untilDone(world, after, 500 + random.below(4000), end)
  })
}

/** Pods that are ready now and then: for as long as there are faults they crash a while after they got ready, and get ready again. In the end half of them are. */
export function flapPods(world: World): void {
  const random = world.random.fork('flaps')
  const flap = (pod: KubeObject): void =>
    untilDone(world, pod, 1500 + random.below(5000), async (current) => {
      const { name = '', uid = '', deletionTimestamp } = current.metadata
      if (deletionTimestamp || current.status?.phase !== 'Running' || troubleOf(current.spec) !== 'flapping') return
      const isReady = world.faults.isOn ? !isPodReady(current) : Number.parseInt(uid.at(-1)!, 16) % 2 === 0
      if (isReady === isPodReady(current)) return
      const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timestamp(world.timeline.nowMs) }]
      await world.userClient.patch(pods, 'default', name, { metadata: { uid }, status: { conditions } }, { type: 'strategic', subresource: 'status' })
    })
  world.truth.onChange(({ plural, before, after }) => {
    if (plural !== pods.plural || !after || troubleOf((after as Pod).spec) !== 'flapping') return
    const stateOf = (pod: Pod) => [troubleOf(pod.spec), pod.status?.phase, isPodReady(pod)].join()
    if (!before || stateOf(before as Pod) !== stateOf(after as Pod)) flap(after)
  })
}

/** Deletes pods whose owner is gone, as the garbage collector does. */
export function collectPods(world: World, owners: string): void {
  const collect = (pod: KubeObject) =>
    untilDone(world, pod, 1000, async ({ metadata: { name = '', uid } }) => world.userClient.delete(pods, 'default', name, { uid }))
  const isThere = (uid: string) => world.truth.list(owners).some((owner) => owner.metadata.uid === uid)
  world.truth.onChange(({ plural, before, after }) => {
    if (plural === owners && before && before.metadata.uid !== after?.metadata.uid) {
      for (const pod of world.truth.list(pods.plural)) if (controllerOf(pod)?.uid === before.metadata.uid) collect(pod)
    }
    const uid = plural === pods.plural && after ? controllerOf(after)?.uid : undefined
    // Made, or adopted, too late.
    if (uid && uid !== (before && controllerOf(before)?.uid) && !isThere(uid)) collect(after!)
  })
}
