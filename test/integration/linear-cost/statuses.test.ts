import { beforeAll, describe, expect, test } from 'vitest'
import { jsonText } from '../../../src/api/json/index.ts'
import type { Json } from '../../../src/api/object.ts'
import { ServerTrial } from '../../../src/server/server-trial.ts'
import { oneOfEachKind } from '../../kubectl/one-of-each-kind.ts'
import { type GrowingField, filled, growingFields, wrapped } from './growing-fields.ts'
import { excesses } from './growth.ts'

interface StatusField extends GrowingField {
  name: string
  url: string
}

const items = 16_000
const itemsLeastMs = 70
const letters = 32_000
const lettersLeastMs = 25

let trial: ServerTrial
/** One object of each kind with a status: its type and its URL. */
const stored: { kind: string; typeName: string; url: string }[] = []

beforeAll(async () => {
  trial = await ServerTrial.open()
  for (const object of oneOfEachKind) {
    const target = trial.parts.registry.all().find(({ apiVersion, resource }) => apiVersion === object.apiVersion && resource.kind === object.kind)!
    const { resource, apiVersion, type } = target
    if (!resource.status) continue
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const all = `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.plural}`
    await trial.run('POST', all, object)
    stored.push({ kind: resource.kind, typeName: type.name!, url: `${all}/${object.metadata.name}/status?dryRun=All` })
  }
}, 60_000)

function fieldsOf(kinds: Parameters<typeof growingFields>[1]): StatusField[] {
  return stored.flatMap(({ kind, typeName, url }) =>
    growingFields(typeName, kinds, new Set()).filter(({ way }) => way[0] === 'status').map((field) => ({ name: `${kind} ${field.way.join('.')}`, url, ...field })))
}

function wrongOf(fields: readonly StatusField[], large: number, leastMs: number, value: (field: StatusField, size: number) => Json): Promise<string[]> {
  const make = (field: StatusField) => (size: number) => {
    const text = jsonText(wrapped(field.way, value(field, Math.ceil(size))))
    return () => trial.send('PATCH', field.url, text)
  }
  return excesses(fields.map((field) => ({ name: field.name, make: make(field) })), large, leastMs)
}

describe('a write of a status costs what it is long', () => {
  test('every list and map, with four times as many items', async () => {
    const fields = fieldsOf(['list', 'map'])
    expect(fields.length).toBeGreaterThan(50)
    expect(await wrongOf(fields, items, itemsLeastMs, ({ type }, size) => filled(type, size))).toEqual([])
  }, 600_000)

  test.each(['a-', '/a'])('every text, four times as long: %j again and again', async (piece) => {
    const fields = fieldsOf(['string', 'intOrString', 'quantity', 'bytes', 'time'])
    expect(fields.length).toBeGreaterThan(100)
    expect(await wrongOf(fields, letters, lettersLeastMs, (_, size) => piece.repeat(size / piece.length))).toEqual([])
  }, 600_000)
})
