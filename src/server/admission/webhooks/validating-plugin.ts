import type { AdmissionPlugin, AdmissionRequest, PluginServer } from '../admission.ts'
import { ExpressionInput, type Found, VersionedRequest } from '../dynamic/index.ts'
import { type Caller, callWebhook, meetsConditions } from './call-webhook.ts'
import { type WebhookHook, liveWebhooks } from './webhook-hooks.ts'
import { webhookMetrics } from './webhook-metrics.ts'

const pluginName = 'ValidatingAdmissionWebhook'

/** Calls all webhooks concurrently. Of several denials, the first in webhook order is reported. */
async function askAll(found: readonly Found<WebhookHook>[], request: AdmissionRequest, caller: Caller): Promise<void> {
  const input = new ExpressionInput(new VersionedRequest(request))
  const relevant: Found<WebhookHook>[] = []
  for (const one of found) {
    if (one.match.error) throw one.match.error
    if (await meetsConditions(one.hook, input, one.match.as)) relevant.push(one)
  }
  const answers = await Promise.allSettled(
    relevant.map(async ({ hook, match }, i) => {
      const isHeeded = await callWebhook(hook, input.versioned, match.as!, caller, () => true)
      if (!isHeeded)
        request.note?.(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${i}`, hook.webhook.name)
    }),
  )
  const refused = answers.find(({ status }) => status === 'rejected')
  if (refused) throw (refused as PromiseRejectedResult).reason
}

/** Calls the validating webhooks of a request. */
export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: pluginName,
  forServer(server: PluginServer): AdmissionPlugin {
    const live = liveWebhooks(server.objects, 'validatingwebhookconfigurations')
    const caller: Caller = { ...server, metrics: webhookMetrics(server.metrics), isMutating: false }
    return {
      name: pluginName,
      handlesConnect: true,
      judgesOnce: true,
      validate(request) {
        const found = live.current.find(request)
        return found.length === 0 ? undefined : askAll(found, request, caller)
      },
    }
  },
}
