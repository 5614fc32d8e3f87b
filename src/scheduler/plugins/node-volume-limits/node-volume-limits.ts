import { storageClassOf } from '../../../api/kinds/volumes/storage-classes.ts'
import { keyOf } from '../../../client/index.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { FilterPlugin, Rejection } from '../plugin.ts'
import type { World } from '../world.ts'

const name = 'NodeVolumeLimits'
const rejection: Rejection = { plugin: name, reasons: ['node(s) exceed max volume count'], isFinal: false }

interface Attached {
  driver: string
  /** Equal for claims that share a volume. */
  id: string
}

/** The attachment of a claim, by driver: its volume or, before it is provisioned, the claim itself. */
function attachedBy(claimKey: string, { claim, volume, storageClass }: World): Attached | undefined {
  const found = claim(claimKey)
  if (!found) return undefined
  const csi = found.spec.volumeName ? volume(found.spec.volumeName)?.spec.csi : undefined
  if (csi) return { driver: csi.driver, id: `${csi.driver}/${csi.volumeHandle}` }
  if (found.spec.volumeName) return undefined
  const driver = storageClass(storageClassOf(found))?.provisioner
  return driver === undefined ? undefined : { driver, id: `${driver}/${claimKey}` }
}

function attachedBySome(claimKeys: Iterable<string>, world: World): Map<string, string> {
  const drivers = new Map<string, string>()
  for (const key of claimKeys) {
    const attached = attachedBy(key, world)
    if (attached) drivers.set(attached.id, attached.driver)
  }
  return drivers
}

/** Reports whether a driver of the node would exceed its limit. */
function exceeds(wanted: ReadonlyMap<string, string>, node: NodeInfo, world: World): boolean {
  const limits = new Map<string, number>()
  for (const { name: driver, allocatable } of world.csiNode(node.name)?.spec.drivers ?? []) {
    if (allocatable?.count !== undefined && allocatable.count !== null) limits.set(driver, allocatable.count)
  }
  if (limits.size === 0) return false
  const attached = attachedBySome(node.claims.keys(), world)
  for (const [driver, limit] of limits) {
    const fresh = [...wanted].filter(([id, by]) => by === driver && !attached.has(id)).length
    if (fresh === 0) continue
    const present = [...attached.values()].filter((by) => by === driver).length
    if (present + fresh > limit) return true
  }
  return false
}

/** Rejects nodes whose storage drivers have reached their attachment limit. */
export const nodeVolumeLimits: FilterPlugin = {
  name,
  filter(pod, world) {
    const wanted = attachedBySome(pod.claimKeys, world)
    return wanted.size === 0 ? undefined : { check: (node) => (exceeds(wanted, node, world) ? rejection : undefined) }
  },
  hears: ['NodeAdd', 'CSINode', 'AssignedPodDelete', 'PersistentVolumeClaim'],
  helps(event, pod) {
    if (event.kind === 'AssignedPodDelete') return event.pod.claimKeys.length > 0
    if (event.kind === 'PersistentVolumeClaim') return pod.claimKeys.includes(keyOf(event.claim))
    return true
  },
}
