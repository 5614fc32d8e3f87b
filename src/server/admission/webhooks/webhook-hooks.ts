import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../../api/generated/types.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { type Hook, LiveIndex, MatchConditions, RequestMatcher, inOrderOfNames } from '../dynamic/index.ts'

type Webhook = MutatingWebhook | ValidatingWebhook
type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration

/** One webhook of a configuration with its compiled matcher. */
export interface WebhookHook extends Hook {
  readonly configuration: string
  readonly webhook: Webhook
  /** The index among the configuration's webhooks, which audit annotations contain. */
  readonly index: number
  /** Identifies the webhook across all configurations. */
  readonly key: string
  /** Compiled on the first match. */
  conditions(): MatchConditions
}

/** The current webhooks of one kind of configuration, sorted by configuration name. */
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
  // A webhook without rules is never called, but criteria without rules match everything.
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
