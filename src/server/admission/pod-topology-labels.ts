import type { Node, Pod } from '../../api/generated/types.ts'
import type { ObjectReader } from '../objects/objects.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isFor } from './refusal.ts'

const copied = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone']

/** The labels that say where a node is, which its pods get too; none of a node that is not there. */
export function topologyLabels(reader: ObjectReader, nodeName: string): Record<string, string> {
  const labels = reader.get<Node>('', 'nodes', '', nodeName)?.metadata.labels ?? {}
  return Object.fromEntries(copied.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])))
}

/** A pod that is made for a node is labelled with the place of the node, as one that is bound to it later. */
export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  admit(request) {
    if (!isFor(request, '', 'pods') || request.operation !== 'CREATE') return
    const { metadata, spec } = request.object as Pod
    if (!spec.nodeName) return
    const labels = topologyLabels(request.reader, spec.nodeName)
    if (Object.keys(labels).length) metadata.labels = { ...metadata.labels, ...labels }
  },
}
