import type { Node } from '../../../api/generated/types.ts'
import { type Amounts, amountsOf } from '../../../api/kinds/quantities/counted-amounts.ts'
import { NodeInfo } from '../../cluster/node-info.ts'
import { type FilterPlugin, type Rejection, type ScorePlugin, maxScore } from '../plugin.ts'

/** A resource that a node lacks. */
interface Shortage {
  reason: string
  /** True if the request exceeds the capacity of the node. */
  isFinal: boolean
}

/** The resources that a node lacks for these requests. */
function shortagesOf(wanted: Amounts, { allocatable, requested, pods, maxPods }: NodeInfo): Shortage[] {
  const shortages: Shortage[] = []
  const compare = (name: string, amount: number, used: number, all: number) => {
    if (amount > 0 && amount > all - used) shortages.push({ reason: `Insufficient ${name}`, isFinal: amount > all })
  }
  if (pods.size + 1 > maxPods) shortages.push({ reason: 'Too many pods', isFinal: maxPods < 1 })
  compare('cpu', wanted.cpu, requested.cpu, allocatable.cpu)
  compare('memory', wanted.memory, requested.memory, allocatable.memory)
  compare('ephemeral-storage', wanted.storage, requested.storage, allocatable.storage)
  for (const [name, amount] of wanted.others ?? [])
    compare(name, amount, requested.others?.get(name) ?? 0, allocatable.others?.get(name) ?? 0)
  return shortages
}

/** Reports whether a node has all requested resources: a fast check for most nodes. */
function fits(wanted: Amounts, { allocatable, requested, pods, maxPods }: NodeInfo): boolean {
  if (pods.size >= maxPods) return false
  if (wanted.cpu > 0 && wanted.cpu > allocatable.cpu - requested.cpu) return false
  if (wanted.memory > 0 && wanted.memory > allocatable.memory - requested.memory) return false
  if (wanted.storage > 0 && wanted.storage > allocatable.storage - requested.storage) return false
  if (!wanted.others) return true
  for (const [name, amount] of wanted.others) {
    if (amount > 0 && amount > (allocatable.others?.get(name) ?? 0) - (requested.others?.get(name) ?? 0)) return false
  }
  return true
}

const name = 'NodeResourcesFit'

/** Nodes that lack the same resources share one rejection. */
const rejections = new Map<string, Rejection>()

function rejectionOf(wanted: Amounts, node: NodeInfo): Rejection {
  const shortages = shortagesOf(wanted, node)
  const isFinal = shortages.some((shortage) => shortage.isFinal)
  const key = `${isFinal} ${shortages.map(({ reason }) => reason).join()}`
  let rejection = rejections.get(key)
  if (!rejection) {
    rejections.set(key, (rejection = { plugin: name, reasons: shortages.map(({ reason }) => reason), isFinal }))
  }
  return rejection
}

/** Reports whether the empty node would suffice. */
function fitsEmpty(wanted: Amounts, node: Node): boolean {
  const empty = new NodeInfo(node.metadata.name ?? '')
  empty.set(node)
  return fits(wanted, empty)
}

function hasMore(node: Node, before: Node): boolean {
  const [now, then] = [amountsOf(node.status?.allocatable), amountsOf(before.status?.allocatable)]
  if (now.cpu > then.cpu || now.memory > then.memory || now.storage > then.storage) return true
  if (Number(node.status?.allocatable?.['pods'] ?? 0) > Number(before.status?.allocatable?.['pods'] ?? 0)) return true
  for (const [resource, amount] of now.others ?? []) if (amount > (then.others?.get(resource) ?? 0)) return true
  return false
}

const isLess = (a: Amounts, b: Amounts): boolean =>
  a.cpu < b.cpu ||
  a.memory < b.memory ||
  a.storage < b.storage ||
  [...(b.others ?? [])].some(([resource, amount]) => (a.others?.get(resource) ?? 0) < amount)

/** Rejects nodes with insufficient resources. */
export const nodeResourcesFit: FilterPlugin = {
  name,
  filter: ({ requests }) => ({ check: (node) => (fits(requests, node) ? undefined : rejectionOf(requests, node)) }),
  hears: ['NodeAdd', 'NodeUpdate', 'AssignedPodUpdate', 'AssignedPodDelete', 'TargetPodUpdate'],
  helps(event, { requests }) {
    switch (event.kind) {
      case 'NodeAdd':
        return fitsEmpty(requests, event.node)
      case 'NodeUpdate':
        return hasMore(event.node, event.before) && fitsEmpty(requests, event.node)
      case 'AssignedPodUpdate':
      case 'TargetPodUpdate':
        return isLess(event.pod.requests, event.before.requests)
      default:
        return true
    }
  },
}

const leftOf = (used: number, all: number): number => (used > all ? 0 : Math.trunc(((all - used) * maxScore) / all))

/** Prefers nodes with more free CPU and memory. */
export const leastAllocated: ScorePlugin = {
  name,
  weight: 1,
  scorer: ({ scored }) => ({
    score({ allocatable, scored: used }) {
      let sum = 0
      let count = 0
      if (allocatable.cpu > 0) {
        sum += leftOf(used.cpu + scored.cpu, allocatable.cpu)
        count++
      }
      if (allocatable.memory > 0) {
        sum += leftOf(used.memory + scored.memory, allocatable.memory)
        count++
      }
      return count === 0 ? 0 : Math.trunc(sum / count)
    },
  }),
}
