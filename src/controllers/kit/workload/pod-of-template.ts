import type { Pod, PodTemplateSpec } from '../../../api/generated/types.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import type { New } from '../../../client/index.ts'

/** What a pod is called, and what it says beyond its template. */
export type PodIdentity = ({ name: string } | { generateName: string }) & {
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  finalizers?: readonly string[]
}

/** What generated names of an owner's pods begin with. */
export function namePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`
  return subdomainName(prefix, true).length === 0 ? prefix : ownerName
}

/** A pod as its template has it. Whoever changes its spec changes a copy: it is the template's own. */
export function podOfTemplate(template: PodTemplateSpec, { labels, annotations, finalizers, ...name }: PodIdentity): New<Pod> {
  const { metadata, spec } = template
  return {
    metadata: {
      ...name,
      ...together('labels', metadata?.labels, labels),
      ...together('annotations', metadata?.annotations, annotations),
      ...(metadata?.finalizers || finalizers ? { finalizers: [...(metadata?.finalizers ?? []), ...(finalizers ?? [])] } : {}),
    },
    spec: spec!,
  }
}

type Texts = Readonly<Record<string, string>> | undefined

const together = <K extends string>(key: K, ours: Texts, theirs: Texts): { [P in K]?: Record<string, string> } =>
  (ours || theirs ? { [key]: { ...ours, ...theirs } } : {}) as { [P in K]?: Record<string, string> }
