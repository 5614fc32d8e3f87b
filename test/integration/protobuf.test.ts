import { describe, expect, it } from 'vitest'
import { type TestServer, configMaps, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'
import { base64, sampleRequest } from '../../src/api/x509/sample-request.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

// Just enough of an encoder: a message is its fields one after the other.
const varint = (value: bigint): number[] => (value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)])
const integer = (field: number, value: number) => Buffer.from([...varint(BigInt(field << 3)), ...varint(BigInt.asUintN(64, BigInt(value)))])
const bytes = (field: number, value: Buffer | string) => {
  const body = Buffer.from(value as string)
  return Buffer.concat([Buffer.from([...varint(BigInt((field << 3) | 2)), ...varint(BigInt(body.length))]), body])
}
const message = (...fields: Buffer[]) => Buffer.concat(fields)
const entry = (field: number, key: string, value: string) => bytes(field, message(bytes(1, key), bytes(2, value)))
const envelope = (apiVersion: string, kind: string, raw: Buffer) =>
  Buffer.concat([Buffer.from('k8s\0'), bytes(1, message(bytes(1, apiVersion), bytes(2, kind))), bytes(2, raw)])

const type = 'application/vnd.kubernetes.protobuf'
const post = (url: string, body: Buffer) => server.send({ method: 'POST', url, headers: { 'content-type': type, accept: `${type}, application/json` }, body })

const withoutChance = (object: any) => {
  const { uid: _u, creationTimestamp: _c, resourceVersion: _r, name: _n, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The same object in both forms gives the same answer. */
async function expectSame(url: string, apiVersion: string, kind: string, raw: (name: string) => Buffer, json: object): Promise<void> {
  const fromProtobuf = await post(url, envelope(apiVersion, kind, raw('from-protobuf')))
  const fromJson = await server.create(url, { apiVersion, kind, ...json, metadata: { ...(json as { metadata?: object }).metadata, name: 'from-json' } })
  expect([fromProtobuf.code, fromJson.code]).toEqual([201, 201])
  expect(withoutChance(fromProtobuf.body)).toEqual(withoutChance(fromJson.body))
}

describe('a body in protobuf', () => {
  it('makes the same ConfigMap as one in JSON', async () => {
    const raw = (name: string) =>
      message(bytes(1, message(bytes(1, name), entry(11, 'app', 'x'), entry(12, 'note', 'ünïcode'))), entry(2, 'a', '1'), entry(2, '__proto__', '2'), entry(3, 'bin', Buffer.from([0, 255, 1]).toString('latin1')))
    const made = await post(configMaps, envelope('v1', 'ConfigMap', raw('c')))
    expect(made.code).toBe(201)
    expect(made.body.metadata).toMatchObject({ name: 'c', labels: { app: 'x' }, annotations: { note: 'ünïcode' } })
    expect(Object.entries(made.body.data)).toEqual([['a', '1'], ['__proto__', '2']])
  })

  it('makes the same Pod', async () => {
    const container = message(
      bytes(1, 'main'), bytes(2, 'nginx'), bytes(3, 'sh'), bytes(4, '-c'), bytes(4, 'sleep 5'),
      bytes(6, message(bytes(1, 'http'), integer(3, 8080), bytes(4, 'TCP'))),
      bytes(7, message(bytes(1, 'A'), bytes(2, 'b'))),
      bytes(8, message(bytes(1, message(bytes(1, 'cpu'), bytes(2, bytes(1, '500m')))))),
      // httpGet in the handler, which stands inline in a probe; its port is text.
      bytes(10, message(bytes(1, bytes(2, message(bytes(1, '/ok'), bytes(2, message(integer(1, 1), bytes(3, 'http'))), bytes(4, 'HTTP')))), integer(2, 7))),
    )
    const spec = message(bytes(2, container), bytes(3, 'Never'), integer(4, 12), entry(7, 'disk', 'ssd'), integer(11, 1))
    await expectSame(pods, 'v1', 'Pod', (name) => message(bytes(1, bytes(1, name)), bytes(2, spec)), {
      spec: {
        containers: [{
          name: 'main', image: 'nginx', command: ['sh'], args: ['-c', 'sleep 5'],
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: [{ name: 'A', value: 'b' }],
          resources: { limits: { cpu: '500m' } },
          livenessProbe: { httpGet: { path: '/ok', port: 'http', scheme: 'HTTP' }, initialDelaySeconds: 7 },
        }],
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 12,
        nodeSelector: { disk: 'ssd' },
        hostNetwork: true,
      },
    })
  })

  it('makes the same Lease, with times to the microsecond', async () => {
    const seconds = Date.UTC(2026, 4, 6, 7, 8, 9) / 1000
    const spec = message(bytes(1, 'me'), integer(2, 15), bytes(4, message(integer(1, seconds), integer(2, 123_456_000))))
    await expectSame('/apis/coordination.k8s.io/v1/namespaces/default/leases', 'coordination.k8s.io/v1', 'Lease', (name) => message(bytes(1, bytes(1, name)), bytes(2, spec)), {
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-05-06T07:08:09.123456Z' },
    })
  })

  it('is answered in JSON, as protobuf is never written', async () => {
    const { headers } = await post(configMaps, envelope('v1', 'ConfigMap', bytes(1, bytes(1, 'c'))))
    expect(headers['content-type']).toBe('application/json')
  })

  it.each([
    ['of another kind', envelope('v1', 'Secret', Buffer.alloc(0)), 'cannot be handled as a ConfigMap'],
    ['of no known kind', envelope('v7', 'Bogus', Buffer.alloc(0)), 'no kind "Bogus" is registered for version "v7"'],
    ['without its magic', Buffer.from('nope'), 'does not appear to be a protobuf message'],
    ['that ends too soon', envelope('v1', 'ConfigMap', bytes(1, bytes(1, 'c'))).subarray(0, -2), 'unexpected'],
    ['with a field of a wrong type', envelope('v1', 'ConfigMap', integer(1, 5)), 'wrong wireType'],
    ['with a time that no calendar has', envelope('v1', 'ConfigMap', bytes(1, bytes(8, integer(1, 2 ** 53)))), 'year outside of range'],
  ])('%s is refused', async (_what, body, why) => {
    const { code, body: status } = await post(configMaps, body)
    expect([code, status.reason]).toEqual([400, 'BadRequest'])
    expect(status.message).toContain(why)
  })

  it('of a patch is no patch', async () => {
    expect((await server.send({ method: 'PATCH', url: `${configMaps}/c`, headers: { 'content-type': type }, body: Buffer.alloc(4) })).code).toBe(415)
  })
})

describe('a body in protobuf of a kind that stands inline', () => {
  it('makes the same webhook configuration: a rule is a message in one with operations', async () => {
    const resources = message(bytes(1, 'apps'), bytes(2, 'v1'), bytes(3, 'deployments'), bytes(4, '*'))
    const rule = message(bytes(1, 'CREATE'), bytes(2, resources))
    const service = message(bytes(1, 'ns'), bytes(2, 'svc'), bytes(3, '/check'), integer(4, 8443))
    const hook = message(
      bytes(1, 'a.example.com'), bytes(2, bytes(1, service)), bytes(3, rule), bytes(4, 'Ignore'), bytes(6, 'None'),
      integer(7, 5), bytes(8, 'v1'), bytes(11, message(bytes(1, 'c'), bytes(2, 'true'))),
    )
    const group = 'admissionregistration.k8s.io/v1'
    const raw = (name: string) => message(bytes(1, bytes(1, name)), bytes(2, hook))
    await expectSame(`/apis/${group}/validatingwebhookconfigurations`, group, 'ValidatingWebhookConfiguration', raw, {
      webhooks: [{
        name: 'a.example.com',
        clientConfig: { service: { namespace: 'ns', name: 'svc', path: '/check', port: 8443 } },
        rules: [
          { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], scope: '*' },
        ],
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        timeoutSeconds: 5,
        admissionReviewVersions: ['v1'],
        matchConditions: [{ name: 'c', expression: 'true' }],
      }],
    })
  })

  it('makes the same certificate signing request', async () => {
    const { request } = sampleRequest()
    const spec = message(bytes(1, request), bytes(5, 'client auth'), bytes(7, 'example.com/signer'), integer(8, 3600))
    const group = 'certificates.k8s.io/v1'
    const raw = (name: string) => message(bytes(1, bytes(1, name)), bytes(2, spec))
    await expectSame(`/apis/${group}/certificatesigningrequests`, group, 'CertificateSigningRequest', raw, {
      spec: {
        request: base64(request), usages: ['client auth'], signerName: 'example.com/signer', expirationSeconds: 3600,
      },
    })
  })

  it('makes the same policy: a rule with names has two messages in it', async () => {
    const inner = message(bytes(1, 'UPDATE'), bytes(2, message(bytes(1, ''), bytes(2, 'v1'), bytes(3, 'pods'))))
    const named = message(bytes(1, 'web'), bytes(2, inner))
    const spec = message(bytes(2, bytes(3, named)), bytes(3, bytes(1, 'true')))
    const group = 'admissionregistration.k8s.io/v1'
    const raw = (name: string) => message(bytes(1, bytes(1, name)), bytes(2, spec))
    const what = { operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
    const rule = { resourceNames: ['web'], ...what }
    await expectSame(`/apis/${group}/validatingadmissionpolicies`, group, 'ValidatingAdmissionPolicy', raw, {
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] },
    })
  })
})
