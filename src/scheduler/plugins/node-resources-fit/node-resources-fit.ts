import type { Node } from '../../../api/generated/types.ts'
import { type Amounts, amountsOf } from '../../../api/kinds/counted-amounts.ts'
import { NodeInfo } from '../../cluster/node-info.ts'
import { type FilterPlugin, type Rejection, type ScorePlugin, maxScore } from '../plugin.ts'
import { fits, shortagesOf } from './fit.ts'

const name = 'NodeResourcesFit'

/** Thousands of nodes are short of the same: they share one rejection. */
const rejections = new Map<string, Rejection>()

function rejectionOf(wanted: Amounts, node: NodeInfo): Rejection {
  const shortages = shortagesOf(wanted, node)
  const isFinal = shortages.some((shortage) => shortage.isFinal)
  const key = `${isFinal} ${shortages.map(({ reason }) => reason).join()}`
  let rejection = rejections.get(key)
  if (!rejection) rejections.set(key, (rejection = { plugin: name, reasons: shortages.map(({ reason }) => reason), isFinal }))
  return rejection
}

/** Whether the node would do if it were empty. */
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
  a.cpu < b.cpu || a.memory < b.memory || a.storage < b.storage || [...(b.others ?? [])].some(([resource, amount]) => (a.others?.get(resource) ?? 0) < amount)

/** Keeps pods away from nodes that have too little left of what they ask for. */
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

/** Prefers nodes on which more CPU and memory is left. */
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
