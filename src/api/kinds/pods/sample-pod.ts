import type { Pod } from '../../generated/types.ts'
import type { Json } from '../../object.ts'
import { decodeObject } from '../../schema/index.ts'
import { validatePodCreate } from './pod.ts'
import { defaultPod } from './pod-defaults.ts'
import { preparePodForCreate } from './pod-prepare.ts'

/** For tests: a pod as decoded from a request, with defaults. Containers are optional. */
export function samplePod(spec: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): Pod {
  const body = {
    metadata: { name: 'p', namespace: 'ns' },
    ...rest,
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  }
  const pod = decodeObject('Pod', structuredClone(body) as Json).object as unknown as Pod
  defaultPod(pod)
  return pod
}

/** For tests: the errors of a new pod with this spec, as `field: message`. */
export function podProblems(spec: Record<string, unknown>, rest: Record<string, unknown> = {}): string[] {
  const pod = samplePod(spec, rest)
  preparePodForCreate(pod, 0)
  return validatePodCreate(pod).map((e) => `${e.field}: ${e.message}`)
}
