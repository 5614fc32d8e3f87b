import type { Pod } from '../../api/generated/types.ts'
import { graceAnnotation, readNote } from '../../api/kinds/in-place-update.ts'
import type { InPlaceChange, TextsPatch } from './in-place-change.ts'

/** An update whose grace period runs, as the pod says it. */
export interface InPlaceGrace {
  revision: string
  graceSeconds: number
  change: InPlaceChange
}

/** As OpenKruise writes it: the metadata is a merge patch, encoded. */
interface StoredGrace {
  revision: string
  containerImages: Record<string, string>
  metaDataPatch: string
  graceSeconds: number
}

export function readGrace(pod: Pod): InPlaceGrace | undefined {
  const grace = readNote<StoredGrace>(pod, graceAnnotation)
  if (!grace?.revision) return undefined
  const { labels = {}, annotations = {} } = metadataOf(grace.metaDataPatch)
  return { revision: grace.revision, graceSeconds: grace.graceSeconds ?? 0, change: { images: grace.containerImages ?? {}, labels, annotations } }
}

export function writeGrace({ revision, graceSeconds, change: { images, labels, annotations } }: InPlaceGrace): string {
  const metaDataPatch = Buffer.from(JSON.stringify({ metadata: { labels, annotations } })).toString('base64')
  const stored: StoredGrace = { revision, containerImages: images, metaDataPatch, graceSeconds }
  return JSON.stringify(stored)
}

function metadataOf(encoded: string | undefined): { labels?: TextsPatch; annotations?: TextsPatch } {
  if (!encoded) return {}
  try {
    return (JSON.parse(Buffer.from(encoded, 'base64').toString()) as { metadata?: object }).metadata ?? {}
  } catch {
    return {} // the images are still to be changed
  }
}
