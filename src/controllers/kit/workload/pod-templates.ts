import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from '../../../api/generated/types.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import type { New } from '../../../client/index.ts'

/** The maximum number of pods that one step of a workload creates, as in Kubernetes. `replicas` may be 2^31-1. */
export const burst = 500

/** The name of a pod, and the metadata that its template lacks. */
export type PodIdentity = ({ name: string } | { generateName: string }) & {
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  finalizers?: readonly string[]
}

/** The prefix of the generated names of an owner's pods. */
export function namePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`
  return subdomainName(prefix, true).length === 0 ? prefix : ownerName
}

/** A pod from its template. The spec is the template's own object: copy it before a change. */
export function podOfTemplate(
  template: PodTemplateSpec,
  { labels, annotations, finalizers, ...name }: PodIdentity,
): New<Pod> {
  const { metadata, spec } = template
  return {
    metadata: {
      ...name,
      ...together('labels', metadata?.labels, labels),
      ...together('annotations', metadata?.annotations, annotations),
      ...(metadata?.finalizers || finalizers
        ? { finalizers: [...(metadata?.finalizers ?? []), ...(finalizers ?? [])] }
        : {}),
    },
    spec: spec!,
  }
}

type Texts = Readonly<Record<string, string>> | undefined

const together = <K extends string>(key: K, ours: Texts, theirs: Texts): { [P in K]?: Record<string, string> } =>
  (ours || theirs ? { [key]: { ...ours, ...theirs } } : {}) as { [P in K]?: Record<string, string> }

/** The name of a pod's claim for a template. */
export type ClaimNameOf = (template: PersistentVolumeClaim) => string

/** The volumes of a pod. Volumes for its claims replace template volumes of the same name. */
export function volumesWithClaims(
  templates: readonly PersistentVolumeClaim[],
  volumes: readonly Volume[] | undefined,
  nameOf: ClaimNameOf,
): { volumes?: Volume[] } {
  if (templates.length === 0) return {}
  const names = new Set(templates.map((template) => template.metadata.name))
  const others = volumes?.filter((volume) => !names.has(volume.name)) ?? []
  const ours = templates.map((template): Volume => ({
    name: template.metadata.name!,
    persistentVolumeClaim: { claimName: nameOf(template) },
  }))
  return { volumes: [...ours, ...others] }
}

/** The claims of a pod, with these labels in addition to those of their templates. */
export const claimsOfTemplates = (
  templates: readonly PersistentVolumeClaim[],
  nameOf: ClaimNameOf,
  labels: Readonly<Record<string, string>>,
  namespace: string | undefined,
): New<PersistentVolumeClaim>[] =>
  templates.map((template) => ({
    metadata: {
      ...template.metadata,
      name: nameOf(template),
      namespace,
      labels: { ...template.metadata.labels, ...labels },
    },
    spec: template.spec,
  }))
