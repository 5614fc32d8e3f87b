import type { Clock } from '../../../base/clock.ts'
import type { Objects } from '../../objects/objects.ts'

/** Kubernetes' limit for the wait. The controller creates the account shortly after its namespace. */
export const accountWaitMs = 1500

/** Callbacks of waiting requests, by namespace and name of the account. */
type Waiting = Map<string, Set<() => void>>

const waitingBy = new WeakMap<Objects, Waiting>()

/** Watches accounts from the first wait on. */
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

/** Resolves when the account changes, or after the time limit. */
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
