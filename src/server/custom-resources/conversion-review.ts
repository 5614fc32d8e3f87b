import { ApiError } from '../../api/errors.ts'
import type { ConversionReview, CustomResourceDefinition } from '../../api/generated/types.ts'
import { cloneObject } from '../../api/json/index.ts'
import { type KubeObject, isFields } from '../../api/object.ts'
import { validateAnnotations, validateLabels } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import type { Random } from '../../base/random.ts'
import { decodeAnswer, goTypeOf } from '../webhooks/answers.ts'
import type { WebhookClient } from '../webhooks/client.ts'
import type { ConversionFailure, ConversionMetrics } from './conversion-metrics.ts'

/** The timeout of a conversion webhook. */
const timeoutMs = 30_000

const reviewGroup = 'apiextensions.k8s.io'

/** The supported versions of ConversionReview. */
const knownReviews = ['v1', 'v1beta1']

const gvk = ({ apiVersion, kind }: KubeObject): string => `${apiVersion ?? ''}, Kind=${kind ?? ''}`

/** The parts of a server that a conversion needs. */
export interface ConversionParts {
  client: WebhookClient
  random: Random
  metrics: ConversionMetrics
}

/** Labels the stage at which a conversion failed. Its `cause` is the error for the client. */
class FailedConversion extends Error {
  readonly failure: ConversionFailure

  constructor(failure: ConversionFailure, cause: unknown) {
    super(failure, { cause })
    this.failure = failure
  }
}

async function during<T>(failure: ConversionFailure, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (e) {
    throw new FailedConversion(failure, e)
  }
}

const versionOf = (apiVersion = ''): string => apiVersion.slice(apiVersion.indexOf('/') + 1)

/** Converts objects of one definition through its webhook. */
export class ConversionReviews {
  readonly #definition: CustomResourceDefinition
  readonly #parts: ConversionParts

  constructor(definition: CustomResourceDefinition, parts: ConversionParts) {
    this.#definition = definition
    this.#parts = parts
  }

  /** Converts objects, in the same order. Rejects with an ApiError in Kubernetes' words. */
  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    const { conversionReviewVersions } = this.#definition.spec.conversion!.webhook!
    const version = conversionReviewVersions.find((name) => knownReviews.includes(name))
    if (!version) throw new ApiError(500, '', 'no supported conversion review versions')
    const startedMs = performance.now()
    let failure: ConversionFailure | undefined
    try {
      return await this.#ask(objects, apiVersion, version)
    } catch (e) {
      if (!(e instanceof FailedConversion)) throw e
      failure = e.failure
      throw e.cause
    } finally {
      const versions = { from: versionOf(objects[0]!.apiVersion), to: versionOf(apiVersion) }
      this.#parts.metrics.count(
        this.#definition.metadata.name!,
        versions,
        (performance.now() - startedMs) / 1000,
        failure,
      )
    }
  }

  async #ask(objects: readonly KubeObject[], apiVersion: string, version: string): Promise<KubeObject[]> {
    const { client, random } = this.#parts
    const uid = random.uuid()
    const review = {
      kind: 'ConversionReview',
      apiVersion: `${reviewGroup}/${version}`,
      request: { uid, desiredAPIVersion: apiVersion, objects },
    }
    const about = `conversion webhook for ${gvk(objects[0]!)}`
    const failed = (e: unknown) => new ApiError(500, '', `${about} failed: ${(e as Error).message}`)
    const { clientConfig } = this.#definition.spec.conversion!.webhook!
    const answer = await during('conversion_webhook_call_failure', () =>
      client
        .call(clientConfig!, review, { timeoutMs })
        .then((value) => decodeAnswer<ConversionReview>('ConversionReview', value))
        .catch((e: unknown) => Promise.reject(failed(e))),
    )
    const converted = await during('conversion_webhook_malformed_response_failure', () => {
      try {
        return convertedIn(answer, version, uid)
      } catch (e) {
        throw failed(e)
      }
    })
    if (converted.length !== objects.length) {
      const counts = `returned ${converted.length} objects, expected ${objects.length}`
      throw new FailedConversion(
        'conversion_webhook_partial_response_failure',
        new ApiError(500, '', `${about} ${counts}`),
      )
    }
    return during('conversion_webhook_invalid_converted_object_failure', () =>
      objects.map((object, i) => checked(object, converted[i], apiVersion)),
    )
  }
}

function convertedIn({ apiVersion, kind, response }: ConversionReview, version: string, uid: string): unknown[] {
  // As in Kubernetes, version and uid of a v1beta1 response are not checked.
  const isStrict = version === 'v1'
  if (isStrict && (apiVersion !== `${reviewGroup}/v1` || kind !== 'ConversionReview')) {
    throw new Error(
      `expected webhook response of ${reviewGroup}/v1, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`,
    )
  }
  if (!response) throw new Error('no response provided')
  const { uid: answered = '', result, convertedObjects = [] } = response
  if (isStrict && answered !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`)
  if (result?.status !== 'Success') {
    throw new Error(result?.message || `response.result.status was '${result?.status ?? ''}', not 'Success'`)
  }
  return convertedObjects
}

/** Validates a converted object and restores its metadata. A webhook may change only labels and annotations. */
function checked(original: KubeObject, answered: unknown, apiVersion: string): KubeObject {
  const fail = (why: string) => new ApiError(500, '', `conversion webhook for ${gvk(original)} returned ${why}`)
  const object = (isFields(answered) ? answered : {}) as unknown as KubeObject
  if (object.apiVersion !== apiVersion) {
    throw fail(
      `invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${object.apiVersion ?? ''})`,
    )
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

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

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
    if (typeof map !== 'object' || Array.isArray(map))
      throw new Error(`invalid metadata.${field} of type ${goTypeOf(map)} in converted object`)
    for (const [key, value] of Object.entries(map)) {
      if (typeof value !== 'string')
        throw new Error(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`)
    }
    const errors = fieldRules[field](map as Record<string, string>)
    if (errors.length) throw new Error(errors.map((e) => `${e.field}: ${e.message}`).join(', '))
    metadata[field] = map as Record<string, string>
  }
  return metadata
}
