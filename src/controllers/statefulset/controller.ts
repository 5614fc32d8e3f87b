import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { type KubeObject, controllerOf, controllerrevisions, isControlledBy, keyOf, persistentvolumeclaims, pods, statefulsets } from '../../client/index.ts'
import { type Caches, defineController, watching, ownedPods } from '../kit/index.ts'
import { announceProgress, isMereBinding, raisedQuotas } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { measures } from './measures.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

const quotas = raisedQuotas(statefulsets)

/** Pods with names of their own that last, one after the other or all at once. */
export const statefulSetController = defineController<StatefulSet, Observed, Action>({
  name: 'statefulset',
  owner: statefulsets,
  owns: [pods, controllerrevisions],
  ownedConcern: (before, after) => !('spec' in after) || !isMereBinding(before as Pod, after as Pod),
  watches: [watching(pods, setOfNamesake, mayBeOrphan), watching(persistentvolumeclaims, setOfClaim), quotas.watch],
  indexes: [quotas.index],
  gate: 'StaleControllerConsistencyStatefulSet',
  rosters: ownedPods,
  observe,
  plan,
  apply,
  status,
  changesInMs,
  statusMayWait,
  announce: announceProgress,
  measures,
})

const ordinalName = /^(.+)-[0-9]+$/

/** The set whose name a pod bears that is not its own: it may adopt the pod, if nobody manages it, or waits for it to go. */
function setOfNamesake({ metadata }: KubeObject, caches: Caches): string[] {
  const parent = ordinalName.exec(metadata.name ?? '')?.[1]
  const set = parent && caches.get(statefulsets, metadata.namespace ?? '', parent)
  return set && !isControlledBy({ metadata }, set) ? [keyOf(set)] : []
}

/** What becomes of somebody else's pod makes no difference before it is gone. */
function mayBeOrphan(before: KubeObject, after: KubeObject): boolean {
  return !controllerOf(before) || !controllerOf(after)
}

/** `data-web-0` is a claim of `web` if that has a template `data`: every way to cut the name is tried. */
export function setOfClaim({ metadata }: KubeObject, caches: Caches): string[] {
  const parent = ordinalName.exec(metadata.name ?? '')?.[1] ?? ''
  const keys: string[] = []
  for (let at = parent.indexOf('-'); at >= 0; at = parent.indexOf('-', at + 1)) {
    const set = caches.get(statefulsets, metadata.namespace ?? '', parent.slice(at + 1))
    if (set?.spec.volumeClaimTemplates?.some((template) => template.metadata.name === parent.slice(0, at))) keys.push(keyOf(set))
  }
  return keys
}
