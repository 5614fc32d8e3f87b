import type { Pod } from '../../../api/generated/types.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { isFor } from '../refusal.ts'

const toleratedSeconds = 300
const conditions = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/**
 * Adds tolerations that keep pods for five minutes on a node that is not ready or unreachable, unless they specify
 * their own.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  admit(request) {
    if (!isFor(request, '', 'pods') || !request.object) return
    const { spec } = request.object as Pod
    const given = spec.tolerations ?? []
    const missing = conditions.filter(
      (key) => !given.some((t) => (t.key === key || !t.key) && (t.effect === 'NoExecute' || !t.effect)),
    )
    if (missing.length === 0) return
    spec.tolerations = [
      ...given,
      ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: toleratedSeconds })),
    ]
  },
}
