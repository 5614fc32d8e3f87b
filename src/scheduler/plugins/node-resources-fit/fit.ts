import type { Amounts } from '../../../api/kinds/counted-amounts.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'

/** A resource that a node has too little of. */
export interface Shortage {
  reason: string
  /** The whole node would not be enough. */
  isFinal: boolean
}

/** What a node has too little of for a pod that asks for these amounts. */
export function shortagesOf(wanted: Amounts, { allocatable, requested, pods, maxPods }: NodeInfo): Shortage[] {
  const shortages: Shortage[] = []
  const compare = (name: string, amount: number, used: number, all: number) => {
    if (amount > 0 && amount > all - used) shortages.push({ reason: `Insufficient ${name}`, isFinal: amount > all })
  }
  if (pods.size + 1 > maxPods) shortages.push({ reason: 'Too many pods', isFinal: maxPods < 1 })
  compare('cpu', wanted.cpu, requested.cpu, allocatable.cpu)
  compare('memory', wanted.memory, requested.memory, allocatable.memory)
  compare('ephemeral-storage', wanted.storage, requested.storage, allocatable.storage)
  for (const [name, amount] of wanted.others ?? []) compare(name, amount, requested.others?.get(name) ?? 0, allocatable.others?.get(name) ?? 0)
  return shortages
}

/** Whether there is nothing that the node has too little of: the quick answer for most nodes. */
export function fits(wanted: Amounts, { allocatable, requested, pods, maxPods }: NodeInfo): boolean {
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
