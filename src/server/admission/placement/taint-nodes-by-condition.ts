import type { Node } from '../../../api/generated/types.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { isFor } from '../refusal.ts'

const key = 'node.kubernetes.io/not-ready'
const effect = 'NoSchedule'

/** Taints a new node as not ready, until it reports that it is. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit(request) {
    if (!isFor(request, '', 'nodes') || request.operation !== 'CREATE') return
    const { spec } = request.object as Node
    const taints = spec.taints ?? []
    if (!taints.some((taint) => taint.key === key && taint.effect === effect))
      spec.taints = [...taints, { key, effect }]
  },
}
