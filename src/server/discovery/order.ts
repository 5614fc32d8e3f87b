/** Kubernetes' order of groups. Unknown groups follow, by name. */
const ranked = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
]

export const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const rank = (group: string) => {
  const at = ranked.indexOf(group)
  return at < 0 ? ranked.length : at
}

/** True for Kubernetes' own groups. */
export const isRanked = (group: string): boolean => ranked.includes(group)

/** The order of groups in /apis. */
export const compareGroups = (a: string, b: string) => rank(a) - rank(b) || compareText(a, b)

const stages = { alpha: 0, beta: 1 } as Record<string, number>

function parts(version: string): [number, number, number] | undefined {
  const m = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  return m ? [m[2] ? stages[m[2]]! : 2, Number(m[1]), Number(m[3] ?? 0)] : undefined
}

/** Kubernetes' version order: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, then other names alphabetically. */
export function compareVersions(a: string, b: string): number {
  const left = parts(a)
  const right = parts(b)
  if (!left || !right) return left ? -1 : right ? 1 : compareText(a, b)
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2]
}
