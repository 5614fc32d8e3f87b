import type { Node, Pod } from '../../../api/generated/types.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { isFor } from '../refusal.ts'

const copied = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone']

/** The topology labels of a node, which its pods get too; none if the node does not exist. */
function topologyLabels(reader: ObjectReader, nodeName: string): Record<string, string> {
  const labels = reader.get<Node>('', 'nodes', '', nodeName)?.metadata.labels ?? {}
  return Object.fromEntries(copied.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])))
}

/** Copies topology labels to a pod created with a nodeName, as binding does for other pods. */
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
