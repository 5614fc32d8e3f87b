import type { Pod, PodCondition } from '../../../src/api/generated/types.ts'
import { inPlaceUpdateReady, mayServeAgain } from '../../../src/api/kinds/pods/in-place-update.ts'
import { pods } from '../../../src/client/index.ts'
import { findCondition, isConditionTrue, timestamp } from '../../../src/controllers/kit/workload/index.ts'
import type { World } from '../world.ts'
import { troubleOf } from './troubles.ts'

export const hookFinalizer = 'example.com/hook'

/**
 * Nodes that restart a container when its image has changed, and mind readiness gates. Half of them open that of updates in place themselves, as our node agent does;
 * the others leave that to the controller. One pod in eight that was told ready is not for a while.
 */
export function keepContainers(world: World): void {
  const random = world.random.fork('containers')
  const pending = new Set<string>()
  const upset = new Set<string>()
  const look = (pod: Pod): void => {
    const { name = '', uid = '' } = pod.metadata
    if (pending.has(uid) || isAsItShouldBe(pod, upset.has(uid))) return
    pending.add(uid)
    world.timeline.after(200 + random.below(3000), () => {
      pending.delete(uid)
      const current = world.truth.get(pods.plural, `default/${name}`) as Pod | undefined
      if (current?.metadata.uid !== uid || isAsItShouldBe(current, upset.has(uid))) return
      const patch = reportOf(current, upset.has(uid), world.timeline.nowMs)
      const sent = world.userClient.patch(pods, 'default', name, patch, { type: 'strategic', subresource: 'status' })
      sent.catch(() => look(current))
    })
  }
  const upsetForAWhile = (pod: Pod): void => {
    const { uid = '', name = '' } = pod.metadata
    const turn = (isUpset: boolean) => {
      if (isUpset) upset.add(uid)
      else upset.delete(uid)
      const current = world.truth.get(pods.plural, `default/${name}`) as Pod | undefined
      if (current?.metadata.uid === uid) look(current)
    }
    world.timeline.after(1000 + random.below(6000), () => {
      if (!world.faults.isOn) return
      turn(true)
      world.timeline.after(1000 + random.below(6000), () => turn(false))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural !== pods.plural || !after) return
    const pod = after as Pod
    look(pod)
    const isNew = isReady(pod) && before !== undefined && !isReady(before as Pod)
    if (isNew && world.faults.isOn && random.below(8) === 0) upsetForAWhile(pod)
  })
}

const isReady = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready')

/** True if a node has its containers, or has to start them since it got an image that can be pulled. */
const isRunning = ({ metadata, spec, status }: Pod): boolean =>
  !metadata.deletionTimestamp && (status?.phase === 'Running' || (status?.phase === 'Pending' && status.containerStatuses !== undefined && troubleOf(spec) !== 'absent'))

const hasImages = ({ spec, status }: Pod): boolean => spec.containers.every((c) => status?.containerStatuses?.find((s) => s.name === c.name)?.image === c.image)

/** Some images never become ready, or at random. */
const hasReadyImage = (pod: Pod): boolean => (troubleOf(pod.spec) === 'flapping' ? isReady(pod) || !isOnNode(pod) : troubleOf(pod.spec) === undefined)

const isOnNode = ({ status }: Pod): boolean => status?.conditions?.some(({ type }) => type === 'Ready') === true

const isToBeReady = (pod: Pod, isUpset: boolean): boolean =>
  !isUpset && hasReadyImage(pod) && (pod.spec.readinessGates ?? []).every(({ conditionType }) => isConditionTrue(pod.status?.conditions, conditionType))

const isAsItShouldBe = (pod: Pod, isUpset: boolean): boolean =>
  !isRunning(pod) || (pod.status?.phase === 'Running' && hasImages(pod) && isReady(pod) === isToBeReady(pod, isUpset) && !(isOnOurNode(pod) && mayServeAgain(pod)))

/** A pod is on one node all its life. */
const isOnOurNode = ({ metadata: { uid = '0' } }: Pod): boolean => Number.parseInt(uid.at(-1)!, 16) % 2 === 0

const conditionOf = (pod: Pod, type: string, isTrue: boolean, nowMs: number): PodCondition => {
  const status = isTrue ? 'True' : 'False'
  const old = findCondition(pod.status?.conditions, type)
  return { type, status, lastTransitionTime: (old?.status === status && old.lastTransitionTime) || timestamp(nowMs) }
}

/** The node's report of a pod. A gate is opened in the observed version of the pod. */
function reportOf(pod: Pod, isUpset: boolean, nowMs: number): object {
  const containerStatuses = pod.spec.containers.map(({ name, image = '' }) => ({ name, image, imageID: `id:${image}`, restartCount: 0, ready: true, state: { running: {} }, lastState: {} }))
  const isOpening = isOnOurNode(pod) && mayServeAgain({ ...pod, status: { ...pod.status, containerStatuses } })
  const opened = isOpening ? [conditionOf(pod, inPlaceUpdateReady, true, nowMs)] : []
  const known = { ...pod, status: { ...pod.status, conditions: [...opened, ...(pod.status?.conditions ?? [])] } }
  const conditions = [conditionOf(pod, 'Ready', isToBeReady(known, isUpset), nowMs), ...opened].map((c) => ({ reason: null, message: null, ...c }))
  const { uid, resourceVersion } = pod.metadata
  return { metadata: { uid, ...(isOpening ? { resourceVersion } : {}) }, status: { phase: 'Running', conditions, containerStatuses } }
}

/** Lets pods go whose hook was asked, or that somebody else has deleted. */
export function answerHooks(world: World): void {
  const random = world.random.fork('hooks')
  const isAsked = ({ metadata }: Pod): boolean =>
    metadata.finalizers?.includes(hookFinalizer) === true && (metadata.deletionTimestamp !== undefined || metadata.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete')
  const answer = (pod: Pod): void => {
    world.timeline.after(500 + random.below(4000), () => {
      const { name = '', uid = '' } = pod.metadata
      const current = world.truth.get(pods.plural, `default/${name}`) as Pod | undefined
      if (current?.metadata.uid !== uid || !isAsked(current)) return
      world.userClient.patch(pods, 'default', name, { metadata: { uid, finalizers: null } }, { type: 'merge' }).catch(() => answer(pod))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural === pods.plural && after && isAsked(after as Pod) && !(before && isAsked(before as Pod))) answer(after as Pod)
  })
}
