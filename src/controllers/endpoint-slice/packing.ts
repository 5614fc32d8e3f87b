import { deepEqual, semanticEqual } from '../../api/deep-equal.ts'
import type { Endpoint, EndpointSlice } from '../../api/generated/types.ts'
import { endpointKey } from './slices.ts'

/** The maximum number of endpoints per slice. */
const maxEndpoints = 100

export interface Changes {
  create: EndpointSlice[]
  update: EndpointSlice[]
  remove: EndpointSlice[]
  /** Endpoints that were added or changed. */
  fresh: Set<Endpoint>
}

interface Draft {
  slice: EndpointSlice
  endpoints: Endpoint[]
  isChanged: boolean
}

/**
 * Distributes endpoints among slices. Existing endpoints keep their slice. New ones first go to slices that are written
 * anyway, then to the slice that they fill best, and only then to new slices. Partly filled slices are preferable to a
 * write that reaches every node.
 */
export function packSlices(
  changes: Changes,
  existing: readonly EndpointSlice[],
  wanted: ReadonlyMap<string, Endpoint>,
  labels: Record<string, string>,
  blank: () => EndpointSlice,
): void {
  const left = new Map(wanted)
  const drafts = existing.map((slice) => draftOf(slice, left, labels, changes.fresh))
  const rest = [...left.values()]
  for (const endpoint of rest) changes.fresh.add(endpoint)
  const changed = drafts
    .filter((d) => d.isChanged && d.endpoints.length > 0)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)
  for (const draft of changed) fill(draft.endpoints, rest)
  while (rest.length > 0) {
    const best = bestFit(drafts, rest.length)
    if (best) {
      best.isChanged = true
      fill(best.endpoints, rest)
    } else {
      const endpoints: Endpoint[] = []
      fill(endpoints, rest)
      changes.create.push({ ...blank(), endpoints })
    }
  }
  for (const { slice, endpoints, isChanged } of drafts) {
    if (endpoints.length === 0) changes.remove.push(slice)
    else if (isChanged) changes.update.push({ ...slice, metadata: { ...slice.metadata, labels }, endpoints })
  }
}

/** The endpoints that stay in a slice. They are removed from `left`. */
function draftOf(
  slice: EndpointSlice,
  left: Map<string, Endpoint>,
  labels: Record<string, string>,
  fresh: Set<Endpoint>,
): Draft {
  const endpoints: Endpoint[] = []
  let isChanged = !deepEqual(slice.metadata.labels ?? {}, labels)
  for (const old of slice.endpoints ?? []) {
    const key = endpointKey(old)
    const endpoint = left.get(key)
    if (!endpoint) {
      isChanged = true
      continue
    }
    left.delete(key)
    endpoints.push(endpoint)
    if (semanticEqual(withoutVersion(old), endpoint)) continue
    isChanged = true
    fresh.add(endpoint)
  }
  return { slice, endpoints, isChanged }
}

/** Other writers record the resource version of the pod, which is ignored. */
function withoutVersion(endpoint: Endpoint): Endpoint {
  if (!endpoint.targetRef?.resourceVersion) return endpoint
  const { resourceVersion: _, ...targetRef } = endpoint.targetRef
  return { ...endpoint, targetRef }
}

/** The unchanged slice with the least sufficient room. */
function bestFit(drafts: readonly Draft[], count: number): Draft | undefined {
  let best: Draft | undefined
  for (const draft of drafts) {
    if (draft.isChanged || draft.endpoints.length + count > maxEndpoints) continue
    if (!best || draft.endpoints.length > best.endpoints.length) best = draft
  }
  return best
}

function fill(endpoints: Endpoint[], rest: Endpoint[]): void {
  endpoints.push(...rest.splice(0, Math.max(0, maxEndpoints - endpoints.length)))
}
