import type { PersistentVolume } from '../../../api/generated/types.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { FilterPlugin, Rejection } from '../plugin.ts'

const name = 'VolumeZone'
const rejection: Rejection = { plugin: name, reasons: ['node(s) had no available volume zone'], isFinal: true }

/** The topology labels, with the current name of each deprecated one. */
const topologyLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'topology.kubernetes.io/region',
}

interface Place {
  label: string
  values: readonly string[]
}

/** The zones of a volume. Several are written as `a__b`. */
function placesOf({ metadata: { labels } }: PersistentVolume): Place[] {
  return Object.keys(topologyLabels).flatMap((label) => {
    const values = labels?.[label]?.split('__').map((value) => value.trim())
    return values === undefined || values.includes('') ? [] : [{ label, values }]
  })
}

const isThere = ({ label, values }: Place, labels: Labels): boolean =>
  values.includes(labels?.[label] ?? labels?.[topologyLabels[label]!] ?? '')

/** Rejects nodes in other zones than the pod's volumes. */
export const volumeZone: FilterPlugin = {
  name,
  filter({ claimKeys }, { claim, volume }) {
    const places = claimKeys.flatMap((key) => {
      const bound = volume(claim(key)?.spec.volumeName ?? '')
      return bound ? placesOf(bound) : []
    })
    if (places.length === 0) return undefined
    const hasZone = (labels: Labels) => Object.keys(topologyLabels).some((label) => labels?.[label] !== undefined)
    return {
      check: ({ labels }) =>
        hasZone(labels) && !places.every((place) => isThere(place, labels)) ? rejection : undefined,
    }
  },
  hears: ['NodeAdd', 'NodeUpdate', 'PersistentVolume'],
  helps(event) {
    if (event.kind === 'NodeUpdate') return !deepEqual(event.before.metadata.labels, event.node.metadata.labels)
    if (event.kind === 'PersistentVolume') {
      return !event.before || !deepEqual(placesOf(event.before), placesOf(event.volume))
    }
    return true
  },
}
