import { afterEach, describe, expect, it } from 'vitest'
import { definition, definitions, instance, int, object, pathOf, text } from './public-kinds.ts'
import { type Options, TestServer, settle } from './server.ts'

let server: TestServer

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

/** Serves a kind Boat with a status subresource. */
async function boats(schema: object, more: object = {}, options: Options = {}): Promise<void> {
  server = await TestServer.start(options)
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {}, ...more } }
  const made = await server.create(definitions, definition('Boat', [version]))
  expect([made.code, made.body.message]).toEqual([201, undefined])
  await settle()
}

const causesOf = ({ body }: { body: any }) => (body.details?.causes ?? []).map(({ field, message }: any) => `${field}: ${message}`)
const status = `${pathOf('Boat', 'a')}/status`

describe('a write of the status', () => {
  it('is refused by a rule that compares it with the spec', async () => {
    const rule = { rule: '!has(self.status) || self.status.n <= self.spec.max', message: 'n is at most max' }
    await boats(object({ spec: object({ max: int }), status: object({ n: int }) }, { 'x-kubernetes-validations': [rule] }))
    expect((await server.create(pathOf('Boat'), instance('Boat', { max: 3 }))).code).toBe(201)
    expect((await server.patch(status, { status: { n: 3 } })).code).toBe(200)
    const refused = await server.patch(status, { status: { n: 4 } })
    expect([refused.code, causesOf(refused)]).toEqual([422, ['<nil>: Invalid value: n is at most max']])
  })

  it('is not refused for a spec that has become invalid', async () => {
    await boats(object({ spec: object({ max: { ...int, maximum: 5 } }), status: object({ n: int }) }))
    expect((await server.create(pathOf('Boat'), instance('Boat', { max: 5 }))).code).toBe(201)
    const path = `${definitions}/boats.example.com`
    const patch = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/max/maximum', value: 4 }]
    expect((await server.patch(path, patch, 'json')).code).toBe(200)
    await settle()
    expect((await server.patch(status, { status: { n: 3 } })).code).toBe(200)
  })
})

describe('the finalizers of a custom resource', () => {
  it('may be without a domain, with a warning', async () => {
    await boats(object({ spec: object({}) }))
    const finalizers = ['moored.example.com', 'example.com/kept', 'foregroundDeletion']
    const made = await server.create(pathOf('Boat'), { ...instance('Boat', {}), metadata: { name: 'a', finalizers } })
    const advice = 'prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers'
    expect([made.code, made.warnings]).toEqual([201, [`299 - "metadata.finalizers: \\"moored.example.com\\": ${advice}"`]])
    expect((await server.patch(pathOf('Boat', 'a'), { spec: {}, metadata: { labels: { a: 'b' } } })).warnings).toEqual([])
    const refused = await server.patch(pathOf('Boat', 'a'), { metadata: { finalizers: ['a b'] } })
    expect(causesOf(refused)[0]).toMatch(/^metadata\.finalizers: Invalid value: "a b": name part must consist of/)
    await server.patch(pathOf('Boat', 'a'), { metadata: { finalizers: null } })
  })
})

describe('a kind with a scale', () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' }
  const any = { 'x-kubernetes-preserve-unknown-fields': true }
  const schema = object({ spec: object({ replicas: any }), status: object({ replicas: any, selector: any }) })

  it.each<[unknown, string[]]>([
    [1, []],
    [2 ** 31 - 1, []],
    [undefined, []],
    [-1, ['.spec.replicas: Invalid value: -1: should be a non-negative integer']],
    [2 ** 31, ['.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647']],
    ['x', ['.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64']],
    [{ b: [1.5, true], a: 1 }, ['.spec.replicas: Invalid value: 0: .spec.replicas accessor error: map[a:1 b:[1.5 true]] is of the type map[string]interface {}, expected int64']],
  ])('has the replicas %j validated', async (replicas, causes) => {
    await boats(schema, { scale })
    const made = await server.create(pathOf('Boat'), instance('Boat', { replicas }))
    expect([made.code, causesOf(made)]).toEqual([causes.length ? 422 : 201, causes])
    await server.create(pathOf('Boat'), instance('Boat', { replicas: 0 }))
    const patched = await server.patch(pathOf('Boat', 'a'), { spec: { replicas } })
    expect([patched.code, causesOf(patched)]).toEqual([causes.length ? 422 : 200, causes])
  })

  it.each<[object, string[]]>([
    [{ replicas: 1, selector: 'a=b' }, []],
    [{ replicas: -1 }, ['.status.replicas: Invalid value: -1: should be a non-negative integer']],
    [{ selector: 5 }, ['.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string']],
  ])('has the status %j validated', async (value, causes) => {
    await boats(schema, { scale })
    await server.create(pathOf('Boat'), instance('Boat', { replicas: 1 }))
    const patched = await server.patch(status, { status: value })
    expect([patched.code, causesOf(patched)]).toEqual([causes.length ? 422 : 200, causes])
  })
})

describe('the rules of an object', () => {
  it('give way to other requests before each rule', async () => {
    let taken = 0
    const answered: number[] = []
    const turns = {
      isSpent: true,
      next: async () => {
        taken++
        if (taken % 10 === 0) answered.push((await server.get('/readyz')).code)
      },
    }
    const item = object({ name: text }, { 'x-kubernetes-validations': [{ rule: "self.name != 'x'" }] })
    const spec = object({ crew: { type: 'array', maxItems: 100, items: item } })
    await boats(object({ spec }), {}, { turns })
    taken = 0
    const crew = Array.from({ length: 50 }, (_, i) => ({ name: i === 49 ? 'x' : `m${i}` }))
    const made = await server.create(pathOf('Boat'), instance('Boat', { crew }))
    expect([made.code, causesOf(made)]).toEqual([422, ["spec.crew[49]: Invalid value: failed rule: self.name != 'x'"]])
    expect(taken).toBe(50)
    expect(answered).toEqual([200, 200, 200, 200, 200])
  })
})
