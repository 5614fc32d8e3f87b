import { deepEqual } from '../../../api/deep-equal.ts'
import { ApiError, internalError } from '../../../api/errors.ts'
import type { MutatingWebhook } from '../../../api/generated/types.ts'
import { JsonSyntaxError, cloneObject, parseJson } from '../../../api/json/index.ts'
import type { Json, KubeObject } from '../../../api/object.ts'
import { JsonPatchError, applyJsonPatch } from '../../../api/patches/json-patch.ts'
import type { Registered } from '../../registry/registry.ts'
import { type AdmissionPlugin, type AdmissionRequest, type PluginServer, Reinvocation } from '../admission.ts'
import { ExpressionInput, type Found, VersionedRequest, whenDecided } from '../dynamic/index.ts'
import type { Verdict } from './admission-review.ts'
import { type Caller, callWebhook, meetsConditions } from './call-webhook.ts'
import { type WebhookHook, liveWebhooks } from './webhook-hooks.ts'
import { webhookMetrics } from './webhook-metrics.ts'

const pluginName = 'MutatingAdmissionWebhook'

/** State of the first round that the second round needs. */
class Rounds {
  /** Webhooks with `reinvocationPolicy: IfNeeded` called since the object was last changed. */
  readonly #reinvocable = new Set<string>()
  /** Reinvocable webhooks after which the object was changed. */
  readonly #due = new Set<string>()
  /** The object after the last webhook. */
  #left: KubeObject | undefined

  begin(object: KubeObject | undefined, isSecond: boolean): void {
    // Other plugins changed the object after the first round.
    if (isSecond && !deepEqual(this.#left, object)) this.changed()
  }

  isDue(key: string): boolean {
    return this.#due.has(key)
  }

  called(key: string): void {
    this.#reinvocable.add(key)
  }

  changed(): void {
    for (const key of this.#reinvocable) this.#due.add(key)
    this.#reinvocable.clear()
  }

  end(object: KubeObject | undefined): void {
    this.#left = object && cloneObject(object)
  }
}

/** Applies a webhook's patch to an object; undefined if it changes nothing. */
function patched(
  name: string,
  { patch, patchType }: Verdict,
  versioned: VersionedRequest,
  as: Registered,
  fail: (reason: string) => Error,
): KubeObject | undefined {
  if (patch === '') return undefined
  const operations = parsedPatch(patch, fail)
  if (Array.isArray(operations) && operations.length === 0) return undefined
  const object = versioned.object(as)
  if (!object)
    throw internalError(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    )
  if (patchType !== 'JSONPatch') throw fail(`unsupported patch type ${JSON.stringify(patchType)}`)
  try {
    const next = decoded(
      applyJsonPatch(cloneObject(versioned.reviewed(as)!) as unknown as Json, operations),
      object,
      versioned,
      as,
    )
    return deepEqual(object, next) ? undefined : next
  } catch (e) {
    if (e instanceof JsonPatchError) throw internalError(e.detail)
    throw e instanceof ApiError ? internalError(e.message) : e
  }
}

function parsedPatch(text: string, fail: (reason: string) => Error): Json {
  try {
    return parseJson(text).value
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw fail(`received undecodable patch in webhook response: ${e.message}`)
    throw e
  }
}

/** Decodes a patched object like a request body: drops unknown fields and applies defaults. */
function decoded(value: Json, before: KubeObject, versioned: VersionedRequest, as: Registered): KubeObject {
  const { origin } = versioned.request
  const type = versioned.isOwnKind ? as.type : origin!.type
  const { object } = type!.decode(value, { isOwned: true })
  const { apiVersion, kind } = before
  const next = Object.assign(object as unknown as KubeObject, { apiVersion, kind })
  // A webhook cannot change field ownership.
  if (next.metadata?.managedFields) delete next.metadata.managedFields
  if (versioned.isOwnKind) as.resource.defaults?.(next, origin!.rules)
  return next
}

/** Calls webhooks in order. Each gets the object as the previous ones have changed it. */
async function askInTurn(
  found: Iterable<Found<WebhookHook>>,
  request: AdmissionRequest,
  caller: Caller,
): Promise<void> {
  const reinvocation = (request.reinvocation ??= new Reinvocation())
  const { isUnderWay: isSecond, state } = reinvocation
  const rounds = (state.get(pluginName) as Rounds | undefined) ?? new Rounds()
  state.set(pluginName, rounds)
  rounds.begin(request.object, isSecond)
  for (const { hook, match } of found) {
    const { webhook, key, index, configuration } = hook
    if (match.error) throw match.error
    const input = new ExpressionInput(new VersionedRequest(request))
    if (!(await meetsConditions(hook, input, match.as))) continue
    // The second round calls only webhooks that are due.
    if (isSecond && !rounds.isDue(key)) continue
    const place = `round_${isSecond ? 1 : 0}_index_${index}`
    const { versioned } = input
    let next: KubeObject | undefined
    try {
      const isHeeded = await callWebhook(hook, versioned, match.as, caller, (verdict, fail) => {
        next = patched(webhook.name, verdict, versioned, match.as, fail)
        return true
      })
      if (!isHeeded) request.note?.(`failed-open.mutation.webhook.admission.k8s.io/${place}`, webhook.name)
    } finally {
      request.note?.(
        `mutation.webhook.admission.k8s.io/${place}`,
        JSON.stringify({ configuration, webhook: webhook.name, mutated: next !== undefined }),
      )
    }
    if (next) {
      const made = next
      await whenDecided(() => versioned.replace(made, match.as))
      rounds.changed()
      reinvocation.isWanted = true
    }
    if ((webhook as MutatingWebhook).reinvocationPolicy === 'IfNeeded') rounds.called(key)
  }
  rounds.end(request.object)
}

/** Calls the mutating webhooks of a request. */
export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: pluginName,
  forServer(server: PluginServer): AdmissionPlugin {
    const live = liveWebhooks(server.objects, 'mutatingwebhookconfigurations')
    const caller: Caller = { ...server, metrics: webhookMetrics(server.metrics), isMutating: true }
    return {
      name: pluginName,
      handlesConnect: true,
      admit(request) {
        const index = live.current
        return index.concerns(request) ? askInTurn(index.each(request), request, caller) : undefined
      },
    }
  },
}
