import type { Container, PodTemplateSpec } from '../../api/generated/types.ts'
import { differingPath } from '../../api/deep-equal.ts'

type Texts = Readonly<Record<string, string>>
/** By key; null takes it away. */
export type TextsPatch = Record<string, string | null>

/** What makes of a pod of one revision a pod of another without replacing it. */
export interface InPlaceChange {
  /** New images, by the container's name. */
  images: Record<string, string>
  labels: TextsPatch
  annotations: TextsPatch
}

/** A change that a running pod can take; or else the first field that it cannot. */
export type InPlaceVerdict = { change: InPlaceChange } | { obstacle: string }

/** Whether a pod of one template can become a pod of another as it runs: images of its containers, labels and annotations may differ, and nothing else. */
export function inPlaceVerdict(from: PodTemplateSpec | undefined, to: PodTemplateSpec): InPlaceVerdict {
  if (!from) return { obstacle: 'the revision that it was made from is not known any more' }
  const [before, after] = [from.spec?.containers ?? [], to.spec?.containers ?? []]
  const images = changedImages(before, after)
  const withImages = { ...from.spec, containers: before.map((c) => ({ ...c, ...(c.name in images ? { image: images[c.name]! } : {}) })) }
  const path = differingPath(rest(from), rest(to), '/metadata') ?? differingPath(withImages, to.spec, '/spec')
  if (path !== undefined) return { obstacle: `${path} has changed` }
  return {
    change: {
      images,
      labels: textsPatch(from.metadata?.labels, to.metadata?.labels),
      annotations: textsPatch(from.metadata?.annotations, to.metadata?.annotations),
    },
  }
}

/** By place and name, as a pod's containers have both for its whole life. */
function changedImages(before: readonly Container[], after: readonly Container[]): Record<string, string> {
  const images: Record<string, string> = {}
  for (const [i, { name, image }] of after.entries()) {
    const old = before[i]
    if (old?.name === name && old.image && image && old.image !== image) images[name] = image
  }
  return images
}

function rest({ metadata }: PodTemplateSpec): object {
  const { labels: _labels, annotations: _annotations, creationTimestamp: _time, ...others } = metadata ?? {}
  return others
}

function textsPatch(from: Texts = {}, to: Texts = {}): TextsPatch {
  const patch: TextsPatch = {}
  for (const [key, value] of Object.entries(to)) if (from[key] !== value) patch[key] = value
  for (const key of Object.keys(from)) if (!(key in to)) patch[key] = null
  return patch
}
