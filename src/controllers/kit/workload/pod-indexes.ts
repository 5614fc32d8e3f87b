import type { LabelSelector, Pod } from '../../../api/generated/types.ts'
import { type Labels, compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import { pods } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type CacheIndex, indexing } from '../definition.ts'

const onNode = 'on-node'
const byLabel = 'label'

/** Pods by the node they are bound to. */
export const byNode: CacheIndex = indexing(pods, onNode, (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []))

/** Pods that are bound to a node. Needs `byNode`. */
export const podsOnNode = (caches: Caches, node: string): Pod[] => caches.byIndex(pods, onNode, node)

const pair = (namespace: string, key: string, value: string) => `${namespace} ${key}=${value}`

/** A namespace, and each label in it. */
function placesOf(namespace: string, labels: Labels): string[] {
  const places = [namespace]
  for (const key in labels) places.push(pair(namespace, key, labels[key]!))
  return places
}

/** Pods by each of their labels, so that a selector need not look at a whole namespace. */
export const podsByLabel: CacheIndex = indexing(pods, byLabel, ({ metadata }) => placesOf(metadata.namespace ?? '', metadata.labels))

/** Pods of a namespace that a selector selects. Needs `podsByLabel`; costs as much as the rarest label that the selector names. */
export function selectedPods(caches: Caches, namespace: string, selector: LabelSelector | undefined): Pod[] {
  if (!selector) return []
  let candidates: Pod[] | undefined
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    const found = caches.byIndex(pods, byLabel, pair(namespace, key, value))
    if (!candidates || found.length < candidates.length) candidates = found
  }
  const matches = compileLabelSelector(selector)
  return (candidates ?? caches.byIndex(pods, byLabel, namespace)).filter((pod) => matches(pod.metadata.labels))
}
