import type { Node, Pod } from '../../../src/api/generated/types.ts'
import { controllerOf, nodes, pods } from '../../../src/client/index.ts'
import { isPodFinished } from '../../../src/controllers/kit/workload/index.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { World } from '../world.ts'

const millis = (cpu: string): number => (cpu.endsWith('m') ? Number.parseInt(cpu) : Number(cpu) * 1000)
const requestOf = ({ spec }: Pod): number => millis(String(spec.containers[0]!.resources?.requests?.['cpu'] ?? '0'))
const sumOf = (some: readonly Pod[]): number => some.reduce((sum, pod) => sum + requestOf(pod), 0)

const podsOn = (world: World, node: string): Pod[] => (world.truth.list(pods.plural) as Pod[]).filter((pod) => pod.spec.nodeName === node && !isPodFinished(pod))

interface Room {
  cpu: number
  pods: number
}

function roomOf({ status }: Node): Room {
  const { cpu = '0', pods: most = '0' } = status?.allocatable ?? {}
  return { cpu: millis(String(cpu)), pods: Number(most) }
}

/** A pod that has its node keeps it. */
const boundOnce = (): Invariant => ({
  name: 'a pod is bound once',
  changed({ plural, before, after }): Verdict {
    if (plural !== pods.plural || before?.metadata.uid !== after?.metadata.uid) return undefined
    const [was, is] = [before, after].map((pod) => (pod as Pod | undefined)?.spec.nodeName)
    return was && was !== is ? `${after!.metadata.name} was on ${was} and is on ${is}` : undefined
  },
})

/** Requests of a dead process are excluded, because its successor cannot know of them. */
const isForgotten = (call: Call): boolean => call.process.isDead

/** No pod is bound to a node that has no room for it, whatever is slow, lost or stale. */
const neverTooMany = (): Invariant => {
  const forgotten = new Set<string>()
  return {
    name: 'no node gets more than it has room for',
    happened(call, world): Verdict {
      if (call.subresource !== 'binding' || !call.outcome?.object || !world.lives.has(call.process)) return undefined
      const pod = world.truth.get(pods.plural, `default/${call.name}`) as Pod | undefined
      const node = pod?.spec.nodeName && (world.truth.get(nodes.plural, pod.spec.nodeName) as Node | undefined)
      if (!pod || !node) return undefined
      if (isForgotten(call)) forgotten.add(pod.metadata.uid!)
      const there = podsOn(world, node.metadata.name!).filter(({ metadata }) => !forgotten.has(metadata.uid!))
      const room = roomOf(node)
      const isTooMuch = sumOf(there) > room.cpu || there.length > room.pods
      return isTooMuch ? `${call.process.name} ${describe(call)} to ${node.metadata.name}, which has ${there.map(({ metadata }) => metadata.name).join()}` : undefined
    },
  }
}

/** A watch that is frozen takes two minutes to be noticed, and why a pod waits is looked at anew five minutes after that, though nothing can have become better: a node may have gone, or be full. */
const caughtUpMs = 460_000

/** In the end no pod waits for which there is a place. */
const allArePlaced = (calm: { sinceMs?: number } = {}): Invariant => ({
  name: 'every pod has a node if there is one',
  unfinished(world): Verdict {
    calm.sinceMs ??= world.timeline.nowMs
    if (world.timeline.nowMs < calm.sinceMs + caughtUpMs) return 'not everything was looked at since'
    const all = world.truth.list(pods.plural) as Pod[]
    const busy = all.find(({ metadata, spec }) => metadata.deletionTimestamp || (spec.nodeName && !world.truth.get(nodes.plural, spec.nodeName)))
    if (busy) return `pod ${busy.metadata.name} is on its way out`
    const open = (world.truth.list(nodes.plural) as Node[]).filter(({ spec }) => !spec?.unschedulable)
    const tainted = open.find(({ spec }) => spec?.taints?.length)
    if (tainted) return `node ${tainted.metadata.name} is not open yet`
    for (const pod of all.filter(({ metadata, spec }) => !spec.nodeName && !controllerOf({ metadata }))) {
      const place = open.find((node) => {
        const there = podsOn(world, node.metadata.name!)
        return there.length < roomOf(node).pods && sumOf(there) + requestOf(pod) <= roomOf(node).cpu
      })
      if (place) return `pod ${pod.metadata.name} waits, and ${place.metadata.name} has room for it`
    }
    return undefined
  },
})

export const schedulingRules = (): Invariant[] => [boundOnce(), neverTooMany(), allArePlaced()]
