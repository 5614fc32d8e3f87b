import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Reply, TestServer, settle } from './server.ts'
import { WebhookServer } from './webhook-server.ts'

const group = 'example.com'
let server: TestServer
let hook: WebhookServer

beforeEach(async () => {
  server = await TestServer.start()
  hook = await WebhookServer.start(converts)
})
afterEach(async () => {
  await server.close()
  await hook.close()
})

/** v1 has `spec.host` and `spec.port`, v2 has `spec.address`. */
function converted({ spec = {}, ...rest }: any, to: string): any {
  if (to.endsWith('/v2')) {
    const { host, port, ...more } = spec
    return { ...rest, apiVersion: to, spec: { ...more, ...(host === undefined && port === undefined ? {} : { address: `${host ?? ''}:${port ?? 0}` }) } }
  }
  const { address, ...more } = spec
  const [host, port] = (address ?? '').split(':')
  return { ...rest, apiVersion: to, spec: { ...more, ...(address === undefined ? {} : { host, port: Number(port) }) } }
}
const converts = ({ request }: any) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview',
  response: { uid: request.uid, result: { status: 'Success' }, convertedObjects: request.objects.map((o: any) => converted(o, request.desiredAPIVersion)) },
})

const text = { type: 'string' }
const int = { type: 'integer' }
const version = (name: string, properties: object, more: object) => ({
  name, served: true, storage: false, subresources: { status: {} }, ...more,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties }, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
})

async function define(plural: string, kind: string, versions: object[], conversion: object): Promise<void> {
  const made = await server.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions, conversion },
  })
  expect(made.body.message).toBeUndefined()
  await settle()
}

const defineBoats = (storage: 'v1' | 'v2' = 'v1') =>
  define('boats', 'Boat', [
    version('v1', { host: text, port: int, sails: int }, { storage: storage === 'v1' }),
    version('v2', { address: text, sails: int }, { storage: storage === 'v2' }),
  ], { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: hook.clientConfig } })

/** Kinds in two versions, by how they are converted. */
const ships = { base: `/apis/${group}`, plural: 'ships', kind: 'Ship', group }
const boats = { base: `/apis/${group}`, plural: 'boats', kind: 'Boat', group }
const autoscalers = { base: '/apis/autoscaling', plural: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler', group: 'autoscaling' }
type Kind = typeof ships

const urlOf = ({ base, plural }: Kind, v: string, rest = '') => `${base}/${v}/namespaces/default/${plural}/a${rest}`
function apply(kind: Kind, v: string, manager: string, spec: object, force = false): Promise<Reply> {
  const config = { apiVersion: `${kind.group}/${v}`, kind: kind.kind, metadata: { name: 'a' }, spec }
  return server.send({
    method: 'PATCH', url: urlOf(kind, v, `?fieldManager=${manager}${force ? '&force=true' : ''}`),
    headers: { 'content-type': 'application/apply-patch+yaml' }, body: Buffer.from(JSON.stringify(config)),
  })
}
const patch = (kind: Kind, v: string, manager: string, spec: object) => server.patch(urlOf(kind, v, `?fieldManager=${manager}`), { spec })
/** `one/v1 .spec.host .spec.port` for each manager. */
const owned = ({ body }: Reply): string[] =>
  ((body.metadata?.managedFields ?? []) as any[]).map(({ manager, apiVersion, fieldsV1 }) =>
    [`${manager}/${apiVersion.split('/')[1]}`, ...Object.keys(fieldsV1['f:spec'] ?? {}).map((f) => f.slice(2))].join(' '))
const refusal = ({ code, body }: Reply) => [code, body.message]

describe('an apply in another version', () => {
  it('conflicts with the fields that it changes in the version that names them', async () => {
    await defineBoats()
    await apply(boats, 'v1', 'one', { host: 'quay', port: 7 })
    expect(refusal(await apply(boats, 'v2', 'two', { address: 'sea:9' }))).toEqual([409, 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.host\n- .spec.port'])
    expect(refusal(await apply(boats, 'v2', 'two', { address: 'quay:9' }))).toEqual([409, 'Apply failed with 1 conflict: conflict with "one": .spec.port'])
    const shared = await apply(boats, 'v2', 'two', { address: 'quay:7', sails: 2 })
    expect([shared.code, owned(shared)]).toEqual([200, ['one/v1 host port', 'two/v2 address sails']])
    expect(server.errors).toEqual([])
  })

  it('takes from each owner what it changes there, when it is forced', async () => {
    await defineBoats('v2')
    await apply(boats, 'v1', 'one', { host: 'quay', port: 7, sails: 3 })
    const forced = await apply(boats, 'v2', 'two', { address: 'quay:9' }, true)
    expect([forced.body.spec, owned(forced)]).toEqual([{ address: 'quay:9', sails: 3 }, ['one/v1 host sails', 'two/v2 address']])
  })

  it('has no conflict with its own manager, and removes what that applied in the other version', async () => {
    await defineBoats()
    await apply(boats, 'v1', 'one', { host: 'quay', port: 7, sails: 3 })
    const moved = await apply(boats, 'v2', 'one', { address: 'sea:9' })
    expect([moved.code, moved.body.spec, owned(moved)]).toEqual([200, { address: 'sea:9' }, ['one/v2 address']])
    const back = await apply(boats, 'v1', 'one', { sails: 1 })
    expect([back.body.spec, owned(back)]).toEqual([{ sails: 1 }, ['one/v1 sails']])
  })

  it('keeps what another manager wants in the version that it leaves', async () => {
    await defineBoats()
    await apply(boats, 'v1', 'one', { host: 'quay', port: 7, sails: 3 })
    await apply(boats, 'v1', 'two', { host: 'quay', port: 7 })
    const moved = await apply(boats, 'v2', 'one', { sails: 3 })
    expect([moved.body.spec, owned(moved)]).toEqual([{ address: 'quay:7', sails: 3 }, ['one/v2 sails', 'two/v1 host port']])
  })

  it.each([['a', 'v1'], ['an older', 'v2']] as const)('is compared by %s version of a kind that needs no conversion', async (_, storage) => {
    const both = { sails: int, color: text }
    await define('ships', 'Ship', [version('v1', both, { storage: storage === 'v1' }), version('v2', { ...both, crew: int }, { storage: storage === 'v2' })], { strategy: 'None' })
    await apply(ships, 'v1', 'one', { sails: 1, color: 'red' })
    expect(refusal(await apply(ships, 'v2', 'two', { sails: 2 }))).toEqual([409, 'Apply failed with 1 conflict: conflict with "one": .spec.sails'])
    const forced = await apply(ships, 'v2', 'two', { sails: 2 }, true)
    expect(owned(forced)).toEqual(['one/v1 color', 'two/v2 sails'])
    const left = await apply(ships, 'v2', 'one', { sails: 2 })
    expect([left.body.spec, owned(left)]).toEqual([{ sails: 2 }, ['one/v2 sails', 'two/v2 sails']])
  })

  it('is compared so for kinds that are built in, too', async () => {
    const target = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 }
    const cpu = (averageUtilization: number) => ({ metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }] })
    await apply(autoscalers, 'v1', 'one', { ...target, targetCPUUtilizationPercentage: 50 })
    expect(refusal(await apply(autoscalers, 'v2', 'two', { ...target, ...cpu(80) }))).toEqual([409, 'Apply failed with 1 conflict: conflict with "one": .spec.targetCPUUtilizationPercentage'])
    const same = await apply(autoscalers, 'v2', 'two', { ...target, ...cpu(50) })
    expect([same.code, owned(same).map((line) => line.split(' ')[0])]).toEqual([200, ['one/v1', 'two/v2']])
    const gone = await apply(autoscalers, 'v2', 'one', target)
    expect(gone.body.spec?.metrics, gone.body.message).toEqual(cpu(50).metrics)
  })
})

describe('an update in another version', () => {
  it('takes the fields that it changes in the version that names them', async () => {
    await defineBoats()
    await apply(boats, 'v1', 'one', { host: 'quay', port: 7 })
    expect(owned(await patch(boats, 'v2', 'two', { address: 'quay:9' }))).toEqual(['one/v1 host', 'two/v2 address'])
    expect(owned(await patch(boats, 'v2', 'two', { address: null }))).toEqual([])
  })

  it('goes on without the webhook of the kind: owners in other versions keep what they have', async () => {
    await defineBoats()
    await apply(boats, 'v2', 'one', { address: 'quay:7' })
    await hook.close()
    const written = await patch(boats, 'v1', 'two', { port: 9 })
    expect([written.code, owned(written)]).toEqual([200, ['one/v2 address', 'two/v1 port']])
    expect((await apply(boats, 'v1', 'three', { sails: 1 })).code).toBe(500)
  })
})

it('a manager of a version that is not served any more manages nothing', async () => {
  const versions = (second: boolean) => [version('v1', { sails: int }, { storage: true }), version('v2', { sails: int }, { served: second })]
  await define('ships', 'Ship', versions(true), { strategy: 'None' })
  await apply(ships, 'v2', 'one', { sails: 1 })
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.${group}`
  const { body } = await server.get(path)
  expect((await server.update(path, { ...body, spec: { ...body.spec, versions: versions(false) } })).code).toBe(200)
  await settle()
  const taken = await apply(ships, 'v1', 'two', { sails: 2 })
  expect([taken.code, owned(taken)]).toEqual([200, ['two/v1 sails']])
})
