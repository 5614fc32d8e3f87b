import { CommitFailedError, type Store } from '../../src/store/index.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { definition, definitions, group, instance, int, object, pathOf, publicKinds, text, version } from './public-kinds.ts'
import { TestServer, settle } from './server.ts'

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

async function define(kind: string, spec: object, more: object[] = []): Promise<void> {
  const made = await server.create(definitions, definition(kind, [version('v1', spec, { storage: true }), ...more]))
  expect([made.code, made.body.message]).toEqual([201, undefined])
  await settle()
}

const applied = (kind: string, spec: unknown, name = 'a') => server.send({
  method: 'PATCH', url: `${pathOf(kind, name)}?fieldManager=test`, headers: { 'content-type': 'application/apply-patch+yaml' },
  body: Buffer.from(JSON.stringify(instance(kind, spec, name))),
})
/** The fields of a refusal. Kubernetes names that of a failed oneOf in the message only: `"spec.uri" must validate one and only one schema`. */
const fieldsOf = (body: { details?: { causes?: { field: string; message: string }[] } }) =>
  (body.details?.causes ?? []).map(({ field, message }) => (field === '<nil>' ? /"([\w.[\]]+)" must validate/.exec(message)?.[1] : field))

describe('a kind of a public project', () => {
  it.each(publicKinds)('$kind is served, explained and judged', async ({ kind, spec, right, wrong }) => {
    await define(kind, spec)
    const made = await server.create(pathOf(kind), instance(kind, right))
    expect([made.code, made.body.message]).toEqual([201, undefined])
    expect(wrong).toHaveLength(10)
    for (const [bad, field] of wrong) {
      const { code, body } = await server.create(pathOf(kind), instance(kind, bad, 'bad'))
      expect([code, fieldsOf(body)]).toEqual([422, expect.arrayContaining([field])])
    }
    const { components, paths } = (await server.get(`/openapi/v3/apis/${group}/v1`)).body
    const schema = components.schemas[`com.example.v1.${kind}`]
    expect(schema.properties.spec.required).toEqual(spec.required)
    // kubectl would send a strategic merge patch if it were told that the server takes one.
    const { patch } = paths[`/apis/${group}/v1/namespaces/{namespace}/${kind.toLowerCase()}s/{name}`]
    expect(Object.keys(patch.requestBody.content)).toEqual(['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'])
    expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group, version: 'v1', kind }])
  })

  it.each(publicKinds)('$kind is applied, again without a change, and refused where it is wrong', async ({ kind, spec, right, wrong }) => {
    await define(kind, spec)
    const first = await applied(kind, right)
    expect([first.code, first.body.message]).toEqual([201, undefined])
    expect((await applied(kind, right)).body.metadata).toEqual(first.body.metadata)
    for (const [bad, field] of wrong) {
      const { code, body } = await applied(kind, bad, 'bad')
      // A value of another type, or an item that stands twice, cannot be merged: that is told before the schema judges.
      const isUntyped = code === 500 && body.message.startsWith('failed to create typed patch object')
      expect([field, isUntyped || fieldsOf(body).includes(field)]).toEqual([field, true])
      if (isUntyped) expect(body.message).toContain(field.replace(/\[\d+\]$/, '').replace(/\[.*/, ''))
    }
    expect((await server.get(pathOf(kind))).body.items).toHaveLength(1)
  })
})

describe('a definition', () => {
  it('is established, changed while watches go on, and goes with its instances', async () => {
    await define('Boat', object({ color: text }))
    const conditions = async () => (await server.get(`${definitions}/boats.${group}`)).body.status?.conditions?.map((c: any) => `${c.type}=${c.status}`)
    expect(await conditions()).toEqual(['NamesAccepted=True', 'Established=True'])
    const watch = await server.watch(pathOf('Boat'))
    await server.create(pathOf('Boat'), instance('Boat', { color: 'red' }))
    const narrower = version('v1', object({ color: { ...text, enum: ['red'] } }), { storage: true })
    expect((await server.patch(`${definitions}/boats.${group}`, { spec: { versions: [narrower] } })).code).toBe(200)
    await settle()
    expect((await server.create(pathOf('Boat'), instance('Boat', { color: 'blue' }, 'b'))).code).toBe(422)
    expect((await server.create(pathOf('Boat'), instance('Boat', { color: 'red' }, 'b'))).code).toBe(201)
    expect(await watch.takeNames()).toEqual(['ADDED a', 'ADDED b'])
    expect((await server.delete(`${definitions}/boats.${group}`)).code).toBe(200)
    await settle()
    expect([(await server.get(`${definitions}/boats.${group}`)).code, (await server.get(pathOf('Boat'))).code]).toEqual([404, 404])
  })

  describe('that is deleted', () => {
    const path = `${definitions}/boats.${group}`
    const terminating = async () => (await server.get(path)).body.status.conditions.find((c: { type: string }) => c.type === 'Terminating')

    it('takes its instances with it, although their webhook is gone', async () => {
      await define('Boat', object({ color: text }))
      await server.create(pathOf('Boat'), instance('Boat', { color: 'red' }))
      const webhook = {
        name: 'gone.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Fail', timeoutSeconds: 1,
        clientConfig: { url: 'https://127.0.0.1:1/' }, rules: [{ operations: ['DELETE'], apiGroups: [group], apiVersions: ['*'], resources: ['*'] }],
      }
      const configuration = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'gone' }, webhooks: [webhook] }
      expect((await server.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', configuration)).code).toBe(201)
      expect((await server.delete(pathOf('Boat', 'a'))).code).toBe(500)
      expect((await server.delete(path)).code).toBe(200)
      await settle()
      expect((await server.get(path)).code).toBe(404)
    })

    it('tells why its instances cannot be deleted, and tries again', async () => {
      let isBroken = false
      const wrapStore = (store: Store): Store => new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name)
          if (name === 'write') {
            return (op: Parameters<Store['write']>[0]) =>
              isBroken && op.key.includes('/boats/') ? Promise.reject(new CommitFailedError(new Error('disk full'))) : target.write(op)
          }
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      await server.close()
      server = await TestServer.start({ wrapStore })
      await define('Boat', object({ color: text }))
      await server.create(pathOf('Boat'), instance('Boat', {}))
      isBroken = true
      await server.delete(path)
      await settle()
      expect(await terminating()).toMatchObject({
        status: 'True', reason: 'InstanceDeletionFailed', message: expect.stringMatching(/^could not issue all deletes: .*disk full/),
      })
      // The change of the status starts a second attempt at once. Others follow after a second each.
      expect(server.errors.splice(0).length).toBeLessThanOrEqual(2)
      isBroken = false
      await server.clock.advance(1000)
      await settle()
      expect((await server.get(path)).code).toBe(404)
    })

    it('has nothing to delete if its names were never accepted', async () => {
      await define('Boat', object({ color: text }))
      const other = definition('Boat', [version('v1', object({}), { storage: true })])
      const named = { ...other, metadata: { name: `ships.${group}`, finalizers: ['example.com/held'] }, spec: { ...other.spec, names: { plural: 'ships', kind: 'Boat' } } }
      expect((await server.create(definitions, named)).code).toBe(201)
      await settle()
      await server.delete(`${definitions}/ships.${group}`)
      await settle()
      const { metadata, status } = (await server.get(`${definitions}/ships.${group}`)).body
      expect([metadata.finalizers, status.conditions.at(-1)]).toEqual([
        ['example.com/held'], expect.objectContaining({ type: 'Terminating', status: 'False', reason: 'NeverEstablished', message: 'resource was never established' }),
      ])
    })

    it('waits for the finalizers of its instances, with one listener', async () => {
      await define('Boat', object({ color: text }))
      const held = { ...instance('Boat', {}), metadata: { name: 'a', finalizers: ['example.com/held'] } }
      await server.create(pathOf('Boat'), held)
      const { parts } = server.api
      const cache = parts.objects.cache(parts.registry.stored(group, 'boats')!)
      const before = cache.listeners
      await server.delete(path)
      await settle()
      expect((await terminating())!.reason).toBe('InstanceDeletionInProgress')
      for (let i = 0; i < 3; i++) {
        await server.patch(path, { metadata: { labels: { round: String(i) } } })
        await settle()
      }
      expect(cache.listeners).toBe(before + 1)
      expect((await server.create(pathOf('Boat'), instance('Boat', {}, 'b'))).code).toBe(403)
      expect((await server.patch(pathOf('Boat', 'a'), { metadata: { finalizers: null } })).code).toBe(200)
      await settle()
      expect((await server.get(path)).code).toBe(404)
    })
  })

  it('serves several versions, each with its own defaults', async () => {
    await define('Boat', object({ a: text }), [version('v2', object({ a: text, b: { ...int, default: 2 } }))])
    await server.create(pathOf('Boat'), instance('Boat', { a: 'x' }))
    const shown = (await server.get(`/apis/${group}/v2/namespaces/default/boats/a`)).body
    expect([shown.apiVersion, shown.spec]).toEqual([`${group}/v2`, { a: 'x', b: 2 }])
  })

  it('shows an object that is stored in an older version whole, with its managers, until it is written again', async () => {
    const [wide, narrow] = [object({ a: text, b: text }), object({ a: text })]
    await define('Boat', wide, [version('v2', narrow)])
    const { body: made } = await server.create(`${pathOf('Boat')}?fieldManager=me`, instance('Boat', { a: 'x', b: 'y' }))
    const stored = [version('v1', wide), version('v2', narrow, { storage: true })]
    expect((await server.patch(`${definitions}/boats.${group}`, { spec: { versions: stored } })).code).toBe(200)
    await settle()
    const { body } = await server.get(pathOf('Boat', 'a'))
    expect([body.spec, body.metadata.managedFields]).toEqual([{ a: 'x', b: 'y' }, made.metadata.managedFields])
    expect((await server.get(`/apis/${group}/v2/namespaces/default/boats/a`)).body.spec).toEqual({ a: 'x' })
    const { body: labelled } = await server.patch(pathOf('Boat', 'a'), { metadata: { labels: { q: '1' } } })
    expect([labelled.spec, labelled.metadata.managedFields.map((entry: { manager: string }) => entry.manager)]).toEqual([{ a: 'x' }, ['me', 'unknown']])
    expect((await server.get(`${definitions}/boats.${group}`)).body.status.storedVersions).toEqual(['v1', 'v2'])
  })

  it('may make a map atomic, which its managers then own as a whole', async () => {
    const map = { type: 'object', additionalProperties: text }
    await define('Boat', object({ flags: map }))
    const apply = (manager: string, flags: object) => server.send({
      method: 'PATCH', url: `${pathOf('Boat', 'a')}?fieldManager=${manager}`, headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from(JSON.stringify(instance('Boat', { flags }))),
    })
    await apply('one', { a: '1' })
    expect((await apply('two', { b: '1' })).body.spec.flags).toEqual({ a: '1', b: '1' })
    const atomic = version('v1', object({ flags: { ...map, 'x-kubernetes-map-type': 'atomic' } }), { storage: true })
    expect((await server.patch(`${definitions}/boats.${group}`, { spec: { versions: [atomic] } })).code).toBe(200)
    await settle()
    const { code, body } = await apply('one', { a: '2' })
    expect([code, body.details?.causes]).toEqual([409, [{ reason: 'FieldManagerConflict', message: 'conflict with "two"', field: '.spec.flags' }]])
    const { body: labelled } = await server.patch(pathOf('Boat', 'a'), { metadata: { labels: { q: '1' } } })
    const owned = labelled.metadata.managedFields.map((entry: { manager: string; fieldsV1: object }) => [entry.manager, entry.fieldsV1])
    expect(owned.slice(0, 2)).toEqual([['one', { 'f:spec': { 'f:flags': {} } }], ['two', { 'f:spec': { 'f:flags': {} } }]])
  })

  it('gives an apply of its scale the field that the scale stands for', async () => {
    const scale = { specReplicasPath: '.spec.crew', statusReplicasPath: '.status.crew' }
    const made = await server.create(definitions, definition('Boat', [version('v1', object({ crew: int }), { storage: true, subresources: { scale } })]))
    expect([made.code, made.body.message]).toEqual([201, undefined])
    await settle()
    await server.create(`${pathOf('Boat')}?fieldManager=me`, instance('Boat', { crew: 1 }))
    const config = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 5 } }
    const reply = await server.send({
      method: 'PATCH', url: `${pathOf('Boat', 'a')}/scale?fieldManager=scaler&force=true`, headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from(JSON.stringify(config)),
    })
    expect([reply.code, reply.body.message]).toEqual([200, undefined])
    const { body } = await server.get(pathOf('Boat', 'a'))
    expect(body.spec).toEqual({ crew: 5 })
    const owned = body.metadata.managedFields.map((entry: { manager: string; fieldsV1: object }) => [entry.manager, entry.fieldsV1])
    expect(owned).toEqual([['scaler', { 'f:spec': { 'f:crew': {} } }], ['me', { 'f:spec': {} }]])
  })
})
