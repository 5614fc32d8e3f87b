import { ApiError } from '../../api/errors.ts'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateAnnotations, validateLabels } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import type { Random } from '../../base/random.ts'
import { goTypeOf } from '../webhooks/answers.ts'
import type { WebhookClient } from '../webhooks/client.ts'

/** A webhook that does not answer for so long has failed. */
const timeoutMs = 30_000

const reviewGroup = 'apiextensions.k8s.io'

/** The forms of a ConversionReview, as definitions name them. */
const knownReviews = ['v1', 'v1beta1']

const gvk = ({ apiVersion, kind }: KubeObject): string => `${apiVersion ?? ''}, Kind=${kind ?? ''}`

interface ReviewResponse {
  uid?: string
  convertedObjects?: unknown
  result?: { status?: string; message?: string }
}

/** Converts objects of one definition by its webhook. */
export class ConversionReviews {
  readonly #definition: CustomResourceDefinition
  readonly #client: WebhookClient
  readonly #random: Random

  constructor(definition: CustomResourceDefinition, client: WebhookClient, random: Random) {
    this.#definition = definition
    this.#client = client
    this.#random = random
  }

  /** The objects in another version, in the same order. Rejects with an ApiError in Kubernetes' words. */
  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    const first = objects[0]!
    const { clientConfig, conversionReviewVersions } = this.#definition.spec.conversion!.webhook!
    const version = conversionReviewVersions.find((name) => knownReviews.includes(name))
    if (!version) throw new ApiError(500, '', 'no supported conversion review versions')
    const uid = this.#random.uuid()
    const review = {
      kind: 'ConversionReview',
      apiVersion: `${reviewGroup}/${version}`,
      request: { uid, desiredAPIVersion: apiVersion, objects },
    }
    let converted: unknown[]
    try {
      converted = convertedIn(await this.#client.call(clientConfig!, review, { timeoutMs }), version, uid)
    } catch (e) {
      throw new ApiError(500, '', `conversion webhook for ${gvk(first)} failed: ${(e as Error).message}`)
    }
    if (converted.length !== objects.length) {
      const counts = `returned ${converted.length} objects, expected ${objects.length}`
      throw new ApiError(500, '', `conversion webhook for ${gvk(first)} ${counts}`)
    }
    return objects.map((object, i) => checked(object, converted[i], apiVersion))
  }
}

function convertedIn(answer: Record<string, unknown>, version: string, uid: string): unknown[] {
  const { apiVersion, kind, response } = answer as { apiVersion?: string; kind?: string; response?: ReviewResponse }
  // The old form is not checked for its version and uid: webhooks of that time left them out.
  const isStrict = version === 'v1'
  if (isStrict && (apiVersion !== `${reviewGroup}/v1` || kind !== 'ConversionReview')) {
    throw new Error(`expected webhook response of ${reviewGroup}/v1, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`)
  }
  if (!response) throw new Error('no response provided')
  const { uid: answered = '', result = {}, convertedObjects = [] } = response
  if (isStrict && answered !== uid) throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`)
  if (result.status !== 'Success') {
    throw new Error(result.message || `response.result.status was '${result.status ?? ''}', not 'Success'`)
  }
  return Array.isArray(convertedObjects) ? convertedObjects : []
}

/** A converted object with the metadata of the original. Only labels and annotations are the webhook's to change. */
function checked(original: KubeObject, answered: unknown, apiVersion: string): KubeObject {
  const fail = (why: string) => new ApiError(500, '', `conversion webhook for ${gvk(original)} returned ${why}`)
  const object = (answered ?? {}) as KubeObject
  if (object.apiVersion !== apiVersion) {
    throw fail(`invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${object.apiVersion ?? ''})`)
  }
  if (object.kind !== original.kind) {
    throw fail(`invalid object at index 0: invalid kind (expected ${original.kind}, received ${object.kind ?? ''})`)
  }
  const problem = identityProblem(original, object)
  if (problem) throw fail(`invalid object: ${problem}`)
  try {
    return { ...object, metadata: restoredMetadata(original, object) }
  } catch (e) {
    throw fail(`invalid metadata: ${(e as Error).message}`)
  }
}

const identity = [['name', 'name'], ['namespace', 'namespace'], ['uid', 'UID']] as const

function identityProblem({ metadata: was }: KubeObject, { metadata: now }: KubeObject): string | undefined {
  for (const [field, word] of identity) {
    const [expected, got] = [was[field] ?? '', now?.[field] ?? '']
    if (expected !== got) return `must have the same ${word}: ${expected} != ${got}`
  }
  return undefined
}

const fieldRules = {
  labels: (map: Record<string, string>) => validateLabels(map, Path.of('metadata', 'labels')),
  annotations: (map: Record<string, string>) => validateAnnotations(map, Path.of('metadata', 'annotation')),
}

function restoredMetadata(original: KubeObject, converted: KubeObject): KubeObject['metadata'] {
  if (!converted.metadata) throw new Error('missing metadata in converted object')
  const metadata = cloneObject(original.metadata)
  for (const field of ['labels', 'annotations'] as const) {
    const map = converted.metadata[field] as unknown
    delete metadata[field]
    if (map === undefined || map === null) continue
    if (typeof map !== 'object' || Array.isArray(map)) throw new Error(`invalid metadata.${field} of type ${goTypeOf(map)} in converted object`)
    for (const [key, value] of Object.entries(map)) {
      if (typeof value !== 'string') throw new Error(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`)
    }
    const errors = fieldRules[field](map as Record<string, string>)
    if (errors.length) throw new Error(errors.map((e) => `${e.field}: ${e.message}`).join(', '))
    metadata[field] = map as Record<string, string>
  }
  return metadata
}
