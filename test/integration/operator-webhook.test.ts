import { readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { judge } from '../../examples/operator/operator.ts'
import { websites } from '../../examples/operator/website.ts'
import type { ValidatingWebhookConfiguration } from '../../src/api/generated/types.ts'
import { type TestCluster, startCluster } from '../../src/cluster/testing.ts'
import { answerReview, serveWebhook } from '../../src/controllers/index.ts'
import { createAuthority, issueServerCertificate } from '../../src/server/auth/certificates.ts'
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

it('serveWebhook() answers what is no review, and goes on', async () => {
  const authority = createAuthority(Date.now())
  const { certificate: cert, key } = issueServerCertificate(authority, ['127.0.0.1'], Date.now())
  const served = await serveWebhook({ cert, key, port: 0, address: '127.0.0.1', judge: (request) => {
    if (request.name === 'broken') throw new Error('no idea')
    return judge(request as never)
  } })
  const ask = (body: string | Buffer, method = 'POST') => new Promise<[number | undefined, string]>((resolve, reject) => {
    httpsRequest({ host: '127.0.0.1', port: served.port, method, path: '/', ca: authority.certificate, agent: false }, (response) => {
      text(response).then((answer) => resolve([response.statusCode, answer]), reject)
    }).on('error', reject).end(body)
  })
  const review = (name: string, request: object = {}) =>
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', operation: 'CREATE', name, object: { metadata: { name }, spec: { domain: 'a' } }, ...request } })
  const noReview = [400, 'the body is not an AdmissionReview with a request\n']
  const rows: [string, string | Buffer, [number, unknown]][] = [
    ['no JSON', 'oops', [400, expect.stringMatching(/^the body is no JSON: /)]],
    ['nothing', '', [400, expect.stringMatching(/^the body is no JSON: /)]],
    ['null', 'null', noReview as [number, string]],
    ['another kind', '{"kind":"Pod"}', noReview as [number, string]],
    ['no request', '{"kind":"AdmissionReview"}', noReview as [number, string]],
    ['a request that is a text', '{"kind":"AdmissionReview","request":"x"}', noReview as [number, string]],
    ['a uid that is a number', review('a', { uid: 5 }), noReview as [number, string]],
    ['a judgement that fails', review('broken'), [500, 'no idea\n']],
    ['too much', Buffer.alloc(17 * 1024 * 1024, ' '), [413, 'the body is longer than 16777216 bytes\n']],
  ]
  for (const [what, body, expected] of rows) expect([what, await ask(body)]).toEqual([what, expected])
  expect((await ask('', 'GET'))[0]).toBe(405)
  const [code, answer] = await ask(review('a'))
  expect([code, JSON.parse(answer).response]).toEqual([200, { uid: 'u', allowed: false, status: { code: 403, message: 'spec.domain: a has no dot' } }])
  await served.close()
})
