import type { Pod, PodSpec, ResourceQuota } from '../../../src/api/generated/types.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type ResourceType, pods, resourcequotas } from '../../../src/client/index.ts'
import { isElection, isWrite } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'

/** The behaviour of an image's pods: the image cannot be pulled, they never become ready, or they change at random. */
export type Trouble = 'absent' | 'unready' | 'flapping'

const troubles: readonly Trouble[] = ['absent', 'unready', 'flapping', 'flapping']

/** One image in five is not as it should be. */
export function someImage(random: SeededRandom): string {
  return random.below(5) === 0 ? `registry.example/${random.pick(troubles)}:1` : `registry.example/app:${1 + random.below(4)}`
}

type Spec = Pick<PodSpec, 'containers'> | undefined

export function troubleOf(spec: Spec): Trouble | undefined {
  const image = spec?.containers[0]?.image ?? ''
  return troubles.find((trouble) => image.includes(`/${trouble}:`))
}

/** True if a workload cannot get to its end: its template makes pods that do not get ready, or it has such pods. */
export const isStuck = (template: Spec, own: readonly Pod[]): boolean => troubleOf(template) !== undefined || own.some(({ spec }) => troubleOf(spec) !== undefined)

/** The deadline that never comes, as the API writes it. */
const never = 2_147_483_647

/** Longer than any minReadySeconds here. Some have none. */
export const someDeadline = (random: SeededRandom): number => random.pick([8, 8, 12, 12, 20, 45, never])

/** Raises, lowers or removes the deadline of one of a kind. */
export const changeDeadline = (type: ResourceType): UserAction => ({
  name: 'changes a deadline',
  weight: 2,
  async run(client, random, world) {
    const all = world.truth.list(type.plural)
    const spec = { progressDeadlineSeconds: someDeadline(random) }
    if (all.length > 0) await client.patch(type, 'default', random.pick(all).metadata.name!, { spec }, { type: 'merge' })
  },
})

const quotaName = 'few'

/** Lets no more pods be made than there are, or one more. It is lifted again soon. */
export const limitPods: UserAction = {
  name: 'limits the number of pods',
  weight: 0.5,
  async run(client, random, world) {
    if (world.truth.get(resourcequotas.plural, `default/${quotaName}`)) return
    const used = { pods: String(world.truth.list(pods.plural).length) }
    const hard = { pods: String(world.truth.list(pods.plural).length + random.below(2)) }
    const quota = await client.create(resourcequotas, { metadata: { name: quotaName, namespace: 'default' }, spec: { hard } } as unknown as ResourceQuota)
    await client.updateStatus(resourcequotas, { ...quota, status: { hard, used } })
  },
}

/**
 * The time without writes after which everything counts as done: pods that do not become ready may keep a workload from
 * any other end.
 */
const quietMs = 20_000

/** In the end there is no limit any more, and nobody has written anything for a while. */
export function quietInTheEnd(): Invariant {
  let lastMs = 0
  return {
    name: 'everybody is done',
    sent(call, world): Verdict {
      if (isWrite(call) && !isElection(call)) lastMs = world.timeline.nowMs
      return undefined
    },
    unfinished(world): Verdict {
      if (world.truth.get(resourcequotas.plural, `default/${quotaName}`)) return 'the number of pods is limited'
      return world.timeline.nowMs - lastMs < quietMs ? 'something was written just now' : undefined
    },
  }
}

/** Lifts every limit after a while, and at once when the faults are over. */
export function liftLimits(world: World): void {
  const random = world.random.fork('limits')
  const lift = (delayMs: number): void => {
    world.timeline.after(world.faults.isOn ? delayMs : 1000, () => {
      if (world.truth.get(resourcequotas.plural, `default/${quotaName}`)) world.userClient.delete(resourcequotas, 'default', quotaName).catch(() => lift(1000))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural === resourcequotas.plural && after && !before) lift(4000 + random.below(20_000))
  })
}
