import type {
  MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhook, ValidatingWebhookConfiguration,
} from '../../../api/generated/types.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { type Hook, LiveIndex, MatchConditions, RequestMatcher, inOrderOfNames } from '../dynamic/index.ts'

export type Webhook = MutatingWebhook | ValidatingWebhook
type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration

/** One webhook of a configuration, ready to be compared with requests. */
export interface WebhookHook extends Hook {
  readonly configuration: string
  readonly webhook: Webhook
  /** Its place among all webhooks, which audit annotations name. */
  readonly index: number
  /** Names it among the webhooks of all configurations. */
  readonly key: string
  /** Compiled when a request first matches. */
  conditions(): MatchConditions
}

/** The webhooks of a kind of configuration as they are now, in the order of the configurations' names. */
export function liveWebhooks(objects: ServerObjects, plural: string): LiveIndex<WebhookHook> {
  return new LiveIndex(objects, [plural], () => {
    let index = 0
    return inOrderOfNames<Configuration>(objects, plural).flatMap(({ metadata, webhooks }) => {
      const configuration = metadata.name!
      return (webhooks ?? []).map((webhook: Webhook) => hookOf(configuration, webhook, index++))
    })
  })
}

function hookOf(configuration: string, webhook: Webhook, index: number): WebhookHook {
  const { rules = [], matchPolicy, namespaceSelector, objectSelector, matchConditions, failurePolicy } = webhook
  let compiled: MatchConditions | undefined
  // A webhook without rules is never called; criteria without rules would match everything.
  const resourceRules = rules.length ? rules : [{ operations: [], apiGroups: [], apiVersions: [], resources: [] }]
  return {
    configuration,
    webhook,
    index,
    key: `${configuration}/${webhook.name}/${index}`,
    matcher: new RequestMatcher({ resourceRules, matchPolicy, namespaceSelector, objectSelector }),
    conditions: () => (compiled ??= new MatchConditions(matchConditions, failurePolicy)),
  }
}
