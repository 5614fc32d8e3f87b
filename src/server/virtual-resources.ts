import { methodNotAllowed } from '../api/errors.ts'
import { structOf } from '../api/schema/index.ts'
import type { Authenticator } from './auth/authenticate.ts'
import { decodeBody } from './body.ts'
import type { MetricsApi } from './metrics/index.ts'
import type { ResourcePath } from './request-info.ts'
import type { Result, ServerParts } from './request.ts'
import type { VirtualRequest, VirtualResources } from './resource-calls.ts'
import { type Decision, type Review, reviews } from './reviews/index.ts'
import { type ActionContext, resultOf } from './subresources/action.ts'
import { podBinding } from './subresources/pod-binding.ts'
import { parseWriteOptions } from './verbs/options.ts'

/** Kinds that are answered and never stored: reviews, bindings by their collection, what nodes and pods use. */
export class Virtual implements VirtualResources {
  readonly #parts: ServerParts
  readonly #authenticator: Authenticator
  readonly #metrics: MetricsApi

  constructor(parts: ServerParts, authenticator: Authenticator, metrics: MetricsApi) {
    this.#parts = parts
    this.#authenticator = authenticator
    this.#metrics = metrics
  }

  run(path: ResourcePath, request: VirtualRequest): Promise<Result> | undefined {
    const review = reviews.find((r) => r.group === path.group && r.version === path.version && r.plural === path.plural)
    if (review) return path.name === '' && review.namespaced === path.inNamespace ? this.#review(review, path, request) : undefined
    if (isDefinitions(path) && request.method === 'GET') return Promise.resolve(noDefinitions())
    const isBindings = path.apiVersion === 'v1' && path.plural === 'bindings' && path.inNamespace && path.name === ''
    return isBindings ? this.#bind(path, request) : this.#metrics.run(path, request.method, request.query)
  }

  async #review(review: Review, path: ResourcePath, request: VirtualRequest): Promise<Result> {
    if (request.method !== 'POST') throw methodNotAllowed()
    const { group, version, kind } = review
    const type = structOf(kind) ? kind : `AuthenticationV1${kind}`
    const options = parseWriteOptions(request.query, 'CreateOptions')
    const body = await decodeBody(request.body, { group, version, kind, type }, this.#parts.registry, options.fieldValidation, request.warnings)
    const value = review.run(body, {
      user: request.user,
      namespace: path.namespace,
      now: this.#parts.clock.now(),
      decide: allowEverything,
      identify: (token, audiences) => this.#authenticator.identify(token, audiences),
    })
    return { kind: 'value', code: 201, value }
  }

  async #bind(path: ResourcePath, request: VirtualRequest): Promise<Result> {
    if (request.method !== 'POST') throw methodNotAllowed()
    const options = parseWriteOptions(request.query, 'CreateOptions')
    const expected = { ...podBinding.kind, type: podBinding.bodyType! }
    const body = await decodeBody(request.body, expected, this.#parts.registry, options.fieldValidation, request.warnings)
    const context: ActionContext = {
      resource: this.#parts.registry.find('v1', 'pods')!.resource,
      subresource: 'binding',
      namespace: path.namespace,
      name: body.metadata.name ?? '',
      query: request.query,
      body,
      user: request.user,
      dryRun: options.dryRun,
      objects: this.#parts.access,
      rules: { gates: this.#parts.gates, now: this.#parts.clock.now() },
      warnings: request.warnings,
      signal: request.signal,
    }
    return resultOf(await podBinding.run(context))
  }
}

/** Whoever is let in may do everything. */
const allowEverything = (): Decision => ({ allowed: true })

/** Custom resources are not served, so there are no definitions of any. kubectl asks for them to tell a mistyped kind from a custom one. */
const isDefinitions = (path: ResourcePath) =>
  path.apiVersion === 'apiextensions.k8s.io/v1' && path.plural === 'customresourcedefinitions' && path.name === '' && !path.inNamespace

const noDefinitions = (): Result => ({
  kind: 'value',
  code: 200,
  value: { kind: 'CustomResourceDefinitionList', apiVersion: 'apiextensions.k8s.io/v1', metadata: { resourceVersion: '1' }, items: [] },
})
