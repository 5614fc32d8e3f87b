import type {
  ObjectMeta,
  RollingUpdateCloneSetStrategy,
  V1beta1InPlaceUpdateStrategy,
} from '../../../api/generated/types.ts'

type ImageField = Exclude<keyof V1beta1InPlaceUpdateStrategy, 'gracePeriodSeconds'>

/** The v1alpha1 annotations that are fields in v1beta1. */
const annotationOf: Readonly<Record<ImageField, string>> = {
  imagePreDownloadParallelism: 'apps.kruise.io/image-predownload-parallelism',
  imagePreDownloadTimeoutSeconds: 'apps.kruise.io/image-predownload-timeout-seconds',
  imagePreDownloadMinUpdatedReadyPods: 'apps.kruise.io/image-predownload-min-updated-ready-pods',
}

const entries = Object.entries(annotationOf) as [ImageField, string][]
const isWhole = (text: string) => /^\d{1,9}$/.test(text)

/** Converts annotations to fields. An annotation with a value that its field cannot hold is kept. */
export function takeImageAnnotations(meta: ObjectMeta, rolling: RollingUpdateCloneSetStrategy): void {
  for (const [field, annotation] of entries) {
    const text = meta.annotations?.[annotation]
    if (!text || (field === 'imagePreDownloadTimeoutSeconds' && !isWhole(text))) continue
    const value = isWhole(text) ? Number(text) : text
    rolling.inPlaceUpdateStrategy = { ...rolling.inPlaceUpdateStrategy, [field]: value }
    const { [annotation]: _taken, ...others } = meta.annotations!
    meta.annotations = others
  }
  if (meta.annotations && !Object.keys(meta.annotations).length) delete meta.annotations
}

/** Converts fields to annotations, and returns the metadata and the remaining fields. */
export function giveImageAnnotations(
  meta: ObjectMeta,
  strategy: V1beta1InPlaceUpdateStrategy,
): { meta: ObjectMeta; gracePeriodSeconds?: number } {
  const { gracePeriodSeconds, ...images } = strategy
  const given = entries
    .filter(([field]) => images[field] !== undefined)
    .map(([field, annotation]) => [annotation, String(images[field])])
  return {
    meta: given.length ? { ...meta, annotations: { ...meta.annotations, ...Object.fromEntries(given) } } : meta,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
}
