import type { LabelSelector, Pod } from '../../../api/generated/types.ts'
import { claimKeysOf } from '../../../api/kinds/volumes/volume-references.ts'
import { compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import { pods } from '../../../client/index.ts'
import { type Caches, candidatesOf, placesOf } from '../caches.ts'
import { type CacheIndex, indexing } from '../sources.ts'

const onNode = 'on-node'
const byLabel = 'label'

/** Pods by their node. */
export const byNode: CacheIndex = indexing(pods, onNode, (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []))

/** The pods that are bound to a node. Requires `byNode`. */
export const podsOnNode = (caches: Caches, node: string): Pod[] => caches.byIndex(pods, onNode, node)

/** Pods by each of their labels, so that a selector does not traverse the namespace. */
export const podsByLabel: CacheIndex = indexing(pods, byLabel, ({ metadata }) =>
  placesOf(metadata.namespace ?? '', metadata.labels),
)

/**
 * The pods of a namespace that match a selector. Requires `podsByLabel`. The cost depends on the rarest label in the
 * selector.
 */
export function selectedPods(caches: Caches, namespace: string, selector: LabelSelector | undefined): Pod[] {
  if (!selector) return []
  const candidates = candidatesOf((place) => caches.byIndex(pods, byLabel, place), namespace, selector)
  const matches = compileLabelSelector(selector)
  return candidates.filter((pod) => matches(pod.metadata.labels))
}

const byClaim = 'claim'

/** Pods by the claims that they mount. */
export const podsByClaim: CacheIndex = indexing(pods, byClaim, claimKeysOf)

/** The pods that mount a claim. Requires `podsByClaim`. */
export const podsOfClaim = (caches: Caches, claimKey: string): Pod[] => caches.byIndex(pods, byClaim, claimKey)
