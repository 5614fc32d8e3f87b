import type { Pod } from '../generated/types.ts'
import type { Json } from '../object.ts'
import { decodeObject } from '../schema/index.ts'
import { defaultPod } from './pod-defaults.ts'

/** For tests: a pod as it comes out of a request, with defaults. Containers may be left out. */
export function samplePod(spec: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): Pod {
  const body = { metadata: { name: 'p', namespace: 'ns' }, ...rest, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }
  const pod = decodeObject('Pod', structuredClone(body) as Json).object as unknown as Pod
  defaultPod(pod)
  return pod
}
