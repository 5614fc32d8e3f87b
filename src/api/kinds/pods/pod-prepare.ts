import type { LabelSelector, Pod, PodAffinityTerm, PodCondition, PodSpec } from '../../generated/types.ts'
import { semanticEqual } from '../../deep-equal.ts'
import { timestamp } from '../../object.ts'
import { qosClassOf } from './qos.ts'
import { appArmorFromAnnotation, appArmorPrefix } from '../containers/security-profiles.ts'
import { type AnyContainer, visitContainers } from '../containers/visit-containers.ts'
import { Path } from '../../validation/path.ts'

/** Sets a pod's condition. lastTransitionTime changes only with the status. */
export function setPodCondition(
  pod: Pod,
  condition: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>,
  now: number,
): void {
  const status = (pod.status ??= {})
  const conditions = (status.conditions ??= [])
  const i = conditions.findIndex((c) => c.type === condition.type)
  const old = i < 0 ? undefined : conditions[i]!
  const lastTransitionTime =
    old?.status === condition.status && old.lastTransitionTime ? old.lastTransitionTime : timestamp(now)
  // lastProbeTime is always serialized, although no component sets it.
  const next = { ...condition, lastProbeTime: old?.lastProbeTime ?? null, lastTransitionTime } as PodCondition
  if (i < 0) conditions.push(next)
  else conditions[i] = next
}

function dropStopSignal(container: AnyContainer): void {
  const lifecycle = container.lifecycle
  if (lifecycle?.stopSignal === undefined) return
  delete lifecycle.stopSignal
  if (!lifecycle.postStart && !lifecycle.preStop) delete container.lifecycle
}

/** Drops fields of disabled features: stop signals, trust bundles, pod certificates, scheduling groups. */
export function dropUnsupportedFields(spec: PodSpec): void {
  for (const container of spec.containers ?? []) dropStopSignal(container)
  for (const container of spec.initContainers ?? []) dropStopSignal(container)
  for (const container of spec.ephemeralContainers ?? []) dropStopSignal(container)
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? []) {
      delete source.clusterTrustBundle
      delete source.podCertificate
    }
  }
  delete spec.schedulingGroup
}

function mergeKeys(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
  labels: Record<string, string>,
): void {
  if (!selector) return
  for (const key of keys ?? []) {
    if (labels[key] === undefined) continue
    ;(selector.matchExpressions ??= []).push({ key, operator, values: [labels[key]] })
  }
}

/** Merges matchLabelKeys and mismatchLabelKeys with the pod's values into the selectors, where they are visible. */
function mergeLabelKeys(pod: Pod, spec: PodSpec): void {
  const labels = pod.metadata.labels ?? {}
  const merge = (term: PodAffinityTerm) => {
    mergeKeys(term.labelSelector, term.matchLabelKeys, 'In', labels)
    mergeKeys(term.labelSelector, term.mismatchLabelKeys, 'NotIn', labels)
  }
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    affinity?.preferredDuringSchedulingIgnoredDuringExecution?.forEach((term) => merge(term.podAffinityTerm))
    affinity?.requiredDuringSchedulingIgnoredDuringExecution?.forEach(merge)
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    mergeKeys(constraint.labelSelector, constraint.matchLabelKeys, 'In', labels)
  }
}

/** Converts deprecated AppArmor annotations to fields. */
function appArmorFromAnnotations(pod: Pod, spec: PodSpec): void {
  const annotations = pod.metadata.annotations
  if (!annotations || spec.os?.name === 'windows') return
  visitContainers(spec, Path.of('spec'), (container) => {
    const profile = appArmorFromAnnotation(annotations[appArmorPrefix + container.name] ?? '')
    if (
      !profile ||
      container.securityContext?.appArmorProfile ||
      semanticEqual(profile, spec.securityContext?.appArmorProfile)
    ) {
      return
    }
    ;(container.securityContext ??= {}).appArmorProfile = profile
  })
}

/** Prepares a new pod for storage: phase Pending, its QoS class, and a condition if scheduling gates hold it. */
export function preparePodForCreate(pod: Pod, now: number): void {
  const spec = pod.spec
  pod.status = { phase: 'Pending', qosClass: qosClassOf(pod) }
  dropUnsupportedFields(spec)
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
  if (spec.schedulingGates?.length) {
    const message = 'Scheduling is blocked due to non-empty scheduling gates'
    setPodCondition(pod, { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }, now)
  }
  mergeLabelKeys(pod, spec)
  appArmorFromAnnotations(pod, spec)
}
