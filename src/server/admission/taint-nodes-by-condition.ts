import type { Node } from '../../api/generated/types.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isFor } from './refusal.ts'

const key = 'node.kubernetes.io/not-ready'
const effect = 'NoSchedule'

/** A new node takes no pods until it has said that it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit(request) {
    if (!isFor(request, '', 'nodes') || request.operation !== 'CREATE') return
    const { spec } = request.object as Node
    const taints = spec.taints ?? []
    if (!taints.some((taint) => taint.key === key && taint.effect === effect)) spec.taints = [...taints, { key, effect }]
  },
}
