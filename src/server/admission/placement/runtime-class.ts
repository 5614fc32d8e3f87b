import type { Pod, RuntimeClass } from '../../../api/generated/types.ts'
import { compareQuantity } from '../../../api/numbers/quantity.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { mergeTolerations } from './merge-tolerations.ts'
import { isFor, refusal } from '../refusal.ts'

const isNewPod = (request: AdmissionRequest) => isFor(request, '', 'pods') && request.operation === 'CREATE'

function classOf(pod: Pod, request: AdmissionRequest): RuntimeClass | undefined {
  const name = pod.spec.runtimeClassName
  if (name === undefined) return undefined
  const found = request.reader.get<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', name)
  if (!found) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  return found
}

function isSameOverhead(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && compareQuantity(a[name]!, b[name]) === 0)
  )
}

function setOverhead({ spec }: Pod, runtimeClass: RuntimeClass, request: AdmissionRequest): void {
  if (!runtimeClass.overhead) return
  const overhead = runtimeClass.overhead.podFixed ?? {}
  if (spec.overhead !== undefined && !isSameOverhead(spec.overhead, overhead)) {
    throw refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  }
  if (runtimeClass.overhead.podFixed) spec.overhead = { ...overhead }
}

function setScheduling({ spec }: Pod, runtimeClass: RuntimeClass, request: AdmissionRequest): void {
  const { nodeSelector = {}, tolerations = [] } = runtimeClass.scheduling ?? {}
  for (const key of Object.keys(nodeSelector).sort()) {
    const given = spec.nodeSelector?.[key]
    if (given === undefined || given === nodeSelector[key]) continue
    throw refusal(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${nodeSelector[key]}; pod.spec.nodeSelector[${key}] = ${given}`,
    )
  }
  if (Object.keys(nodeSelector).length) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  if (runtimeClass.scheduling) {
    const merged = mergeTolerations(spec.tolerations ?? [], tolerations)
    if (merged.length) spec.tolerations = merged
  }
}

/** Applies the overhead and scheduling constraints of a pod's RuntimeClass. */
export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  admit(request) {
    if (!isNewPod(request)) return
    const pod = request.object as Pod
    const found = classOf(pod, request)
    if (!found) return
    setOverhead(pod, found, request)
    setScheduling(pod, found, request)
  },
  validate(request) {
    if (!isNewPod(request)) return
    const pod = request.object as Pod
    if (pod.spec.overhead !== undefined && !classOf(pod, request)?.overhead) {
      throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
    }
  },
}
