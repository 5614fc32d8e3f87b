import { deepEqual } from '../../api/deep-equal.ts'
import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice } from '../../api/generated/types.ts'
import { isControlledBy } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { belongsToService, readySince, triggerTimeAnnotation } from '../service-pods.ts'
import { type Family, endpointKey, endpointOf, familiesOf, labelsOf, newSlice, portsKey, portsOf } from './slices.ts'
import type { Observed } from './observe.ts'
import { type Changes, packSlices } from './packing.ts'
import { earliest } from '../../api/object.ts'

export type Action =
  | { kind: 'CreateSlice'; slice: EndpointSlice }
  | { kind: 'UpdateSlice'; slice: EndpointSlice }
  | { kind: 'DeleteSlice'; slice: EndpointSlice }

/** Endpoints that have the same ports. */
interface Group {
  ports: DiscoveryV1EndpointPort[]
  endpoints: Map<string, Endpoint>
}

/** Computes the slices of a service with few writes. Endpoints keep their slice. */
export function plan(seen: Observed): Step<Action> {
  const { service, pods, slices } = seen
  if (!pods) return { actions: [] }
  const families = familiesOf(service)
  const isOurs = (slice: EndpointSlice) => isControlledBy(slice, service)
  // Slices of an earlier service of the same name, or of an address family that the service no longer has, which is
  // immutable.
  const unfit = slices.filter((slice) => !isOurs(slice) || !families.includes(slice.addressType as Family))
  const actions: Action[] = families.flatMap((family) => {
    const own = slices.filter((slice) => isOurs(slice) && slice.addressType === family)
    return actionsOf(timed(seen, changesFor(seen, family, own)))
  })
  return { actions: [...actions, ...unfit.map((slice): Action => ({ kind: 'DeleteSlice', slice }))] }
}

const actionsOf = ({ create, update, remove }: Changes): Action[] => [
  ...create.map((slice): Action => ({ kind: 'CreateSlice', slice })),
  ...update.map((slice): Action => ({ kind: 'UpdateSlice', slice })),
  ...remove.map((slice): Action => ({ kind: 'DeleteSlice', slice })),
]

function changesFor(seen: Observed, family: Family, slices: readonly EndpointSlice[]): Changes {
  const { service } = seen
  const labels = labelsOf(service)
  const groups = groupsOf(seen, family)
  const changes: Changes = { create: [], update: [], remove: [], fresh: new Set() }
  for (const [key, { ports, endpoints }] of groups) {
    const existing = slices.filter((slice) => portsKey(slice.ports) === key)
    packSlices(changes, existing, endpoints, labels, () => newSlice(service, family, ports, []))
  }
  for (const slice of slices) if (!groups.has(portsKey(slice.ports))) changes.remove.push(slice)
  if (changes.create.length === 0 && changes.remove.length === slices.length) {
    changes.create.push(newSlice(service, family, [], []))
  }
  return reuse(changes, labels)
}

/** Reuses slices to be deleted for slices to be created. A service without endpoints keeps one empty slice. */
function reuse(changes: Changes, labels: Record<string, string>): Changes {
  const { create, remove } = changes
  while (create.length > 0 && remove.length > 0) {
    const wanted = create.pop()!
    const old = remove.shift()!
    const isEmpty = wanted.endpoints.length === 0 && !old.endpoints?.length
    const isSame = isEmpty && portsKey(wanted.ports) === portsKey(old.ports) && deepEqual(old.metadata.labels, labels)
    if (!isSame) {
      changes.update.push({
        ...old,
        metadata: { ...old.metadata, labels },
        ports: wanted.ports,
        endpoints: wanted.endpoints,
      })
    }
  }
  return changes
}

function groupsOf({ service, pods, nodes }: Observed, family: Family): Map<string, Group> {
  const groups = new Map<string, Group>()
  const byName = [...pods!].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  for (const pod of byName) {
    if (!belongsToService(pod, true)) continue
    const node = nodes.get(pod.spec?.nodeName ?? '')
    // A pod on a missing node cannot be reached. Pod garbage collection deletes it.
    if (!node && !service.spec?.publishNotReadyAddresses) continue
    const endpoint = endpointOf(pod, node, service, family)
    if (endpoint.addresses.length === 0) continue
    const ports = portsOf(service, pod)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, endpoints: new Map() }
    groups.set(key, group)
    group.endpoints.set(endpointKey(endpoint), endpoint)
  }
  return groups
}

/** Annotates changed slices with the time of the change. */
function timed({ service, pods }: Observed, changes: Changes): Changes {
  const names = new Set([...changes.fresh].map((endpoint) => endpoint.targetRef?.name))
  const times = (pods ?? []).filter((pod) => names.has(pod.metadata.name)).map(readySince)
  if (changes.create.length > 0 && changes.update.length === 0) times.push(service.metadata.creationTimestamp)
  const time = earliest(times)
  const note = (slice: EndpointSlice): EndpointSlice => {
    const { [triggerTimeAnnotation]: _, ...others } = slice.metadata.annotations ?? {}
    return {
      ...slice,
      metadata: { ...slice.metadata, annotations: time ? { ...others, [triggerTimeAnnotation]: time } : others },
    }
  }
  return { ...changes, create: changes.create.map(note), update: changes.update.map(note) }
}
