import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'
import { patch } from './patch.ts'

let trial: ServerTrial
const configMaps = '/api/v1/namespaces/default/configmaps'
const types = { json: 'application/json-patch+json', merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' }

beforeEach(async () => {
  trial = await ServerTrial.open()
  await create(trial.request(configMaps, { metadata: { name: 'a' }, data: { x: '1', y: '2' } }))
})

const objectOf = (result: Result): any => (result as Extract<Result, { kind: 'stored' }>).stored.object
const apply = async (type: string, body: unknown, url = `${configMaps}/a`) => objectOf(await patch(trial.request(url, body, { contentType: type })))

describe('patch()', () => {
  it.each([
    ['json', [{ op: 'replace', path: '/data/x', value: '9' }, { op: 'remove', path: '/data/y' }]],
    ['merge', { data: { x: '9', y: null } }],
    ['strategic', { data: { x: '9', y: null } }],
  ] as const)('applies a %s patch', async (type, body) => {
    expect((await apply(types[type], body)).data).toEqual({ x: '9' })
  })

  it('leaves the stored object as it is while it makes another', async () => {
    const before = trial.parts.access.get<any>('', 'configmaps', 'default', 'a')
    await apply(types.json, [{ op: 'add', path: '/data/z', value: '3' }])
    expect(before.data).toEqual({ x: '1', y: '2' })
  })

  it.each([
    ['server-side apply without a manager', 'application/apply-patch+yaml', {}, 422],
    ['a type that is none', 'application/json', {}, 415],
    ['text that is no JSON', types.merge, undefined, 400],
    ['a list where an object should be', types.merge, [], 400],
    ['an object where a list should be', types.json, {}, 400],
    ['an operation that fails', types.json, [{ op: 'test', path: '/data/x', value: 'other' }], 422],
    ['a result that fits no schema', types.merge, { data: 7 }, 422],
    ['a result of another kind', types.merge, { kind: 'Pod' }, 422],
    ['a result of another name', types.merge, { metadata: { name: 'b' } }, 400],
    ['a version that is gone', types.merge, { metadata: { resourceVersion: '1' } }, 409],
    ['bad options', types.merge, {}, 422, `${configMaps}/a?dryRun=bogus`],
    ['an unknown field, strictly', types.merge, { bogus: 1 }, 422, `${configMaps}/a?fieldValidation=Strict`],
    ['nothing that is there', types.merge, {}, 404, `${configMaps}/nobody`],
  ])('refuses %s', async (_what, type, body, code, url = `${configMaps}/a`) => {
    await expect(apply(type, body, url)).rejects.toMatchObject({ code })
  })

  it('tells of unknown fields once, though the patch was applied again after a conflict', async () => {
    const requests = Array.from({ length: 5 }, (_, i) => trial.request(`${configMaps}/a`, { bogus: 1, data: { [`k${i}`]: 'v' } }, { contentType: types.merge }))
    await Promise.all(requests.map((r) => patch(r)))
    for (const { warnings } of requests) expect(new Set(warnings)).toEqual(new Set(['unknown field "bogus"']))
  })

  it('refuses a JSON patch that nests deeper than anybody can walk', async () => {
    const nest = JSON.parse(`${'{"a":'.repeat(900)}{}${'}'.repeat(900)}`) as object
    const deep = [0, 900, 1800].map((depth) => ({ op: 'add', path: `/z${'/a'.repeat(depth)}`, value: nest }))
    await expect(apply(types.json, deep)).rejects.toMatchObject({ code: 422 })
  })
})
