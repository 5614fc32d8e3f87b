import type { PersistentVolumeClaim, Volume } from '../../../api/generated/types.ts'
import type { New } from '../../../client/index.ts'

/** The name of the claim that a pod has of a template. */
export type ClaimNameOf = (template: PersistentVolumeClaim) => string

/** A pod's volumes: those of its claims stand in for those of its template that have their names. */
export function volumesWithClaims(templates: readonly PersistentVolumeClaim[], volumes: readonly Volume[] | undefined, nameOf: ClaimNameOf): { volumes?: Volume[] } {
  if (templates.length === 0) return {}
  const names = new Set(templates.map((template) => template.metadata.name))
  const others = volumes?.filter((volume) => !names.has(volume.name)) ?? []
  const ours = templates.map((template): Volume => ({ name: template.metadata.name!, persistentVolumeClaim: { claimName: nameOf(template) } }))
  return { volumes: [...ours, ...others] }
}

/** A pod's claims, with these labels next to those of their templates. */
export const claimsOfTemplates = (
  templates: readonly PersistentVolumeClaim[],
  nameOf: ClaimNameOf,
  labels: Readonly<Record<string, string>>,
  namespace: string | undefined,
): New<PersistentVolumeClaim>[] =>
  templates.map((template) => ({
    metadata: { ...template.metadata, name: nameOf(template), namespace, labels: { ...template.metadata.labels, ...labels } },
    spec: template.spec,
  }))
