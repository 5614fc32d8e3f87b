import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { judge } from '../../examples/operator/operator.ts'
import { websites } from '../../examples/operator/website.ts'
import type { ValidatingWebhookConfiguration } from '../../src/api/generated/types.ts'
import { type TestCluster, startCluster } from '../../src/cluster/testing.ts'
import { answerReview } from '../../src/controllers/index.ts'
import { WebhookServer } from './webhook-server.ts'

const crd = readFileSync(path.resolve(import.meta.dirname, '../../examples/operator/crd.yaml'), 'utf8')

let hook: WebhookServer
let cluster: TestCluster

beforeEach(async () => {
  hook = await WebhookServer.start((review) => answerReview(review as never, judge))
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'websites' },
    webhooks: [{
      name: 'websites.example.com', clientConfig: hook.clientConfig, sideEffects: 'None', admissionReviewVersions: ['v1'],
      rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['websites'] }],
    }],
  } as unknown as ValidatingWebhookConfiguration
  cluster = await startCluster({ crds: [crd], webhooks: [configuration] })
})
afterEach(async () => {
  await cluster.stop()
  await hook.close()
})

it('the webhook of the example operator judges over HTTPS, as startCluster configures it', async () => {
  const website = (name: string, domain: string) => ({ metadata: { name, namespace: 'default' }, spec: { domain } })
  await cluster.client.create(websites, website('good', 'a.example.com'))
  const refused = cluster.client.create(websites, website('bad', 'nodots'))
  await expect(refused).rejects.toMatchObject({ code: 403, message: expect.stringContaining('admission webhook "websites.example.com" denied the request') as string })
  expect(hook.calls.map(({ body }) => (body as { request: { name: string } }).request.name)).toEqual(['good', 'bad'])
})
