import type { Clock } from '../../base/clock.ts'
import type { Objects } from '../objects/objects.ts'

/** Kubernetes looks for the account again for as long: its controller makes it a moment after the namespace. */
export const accountWaitMs = 1500

/** Who waits for an account, by namespace and name. */
type Waiting = Map<string, Set<() => void>>

const waitingBy = new WeakMap<Objects, Waiting>()

/** Accounts are followed once, from the first that is waited for on. */
function waitingOf(objects: Objects): Waiting {
  const known = waitingBy.get(objects)
  if (known) return known
  const waiting: Waiting = new Map()
  waitingBy.set(objects, waiting)
  objects.follow('', 'serviceaccounts', ({ namespace, name }) => {
    for (const wake of waiting.get(`${namespace}/${name}`) ?? []) wake()
  })
  return waiting
}

/** Resolves when something has become of an account, or when that has taken too long. */
export function accountChange(objects: Objects, clock: Clock, namespace: string, name: string): Promise<void> {
  const waiting = waitingOf(objects)
  const key = `${namespace}/${name}`
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      const others = waiting.get(key)
      others?.delete(done)
      if (others?.size === 0) waiting.delete(key)
      resolve()
    }
    const cancel = clock.after(accountWaitMs, done)
    waiting.set(key, (waiting.get(key) ?? new Set()).add(done))
  })
}
