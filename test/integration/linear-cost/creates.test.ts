import { beforeAll, describe, expect, test } from 'vitest'
import { jsonText } from '../../../src/api/json/index.ts'
import type { Json } from '../../../src/api/object.ts'
import { ServerTrial } from '../../../src/server/server-trial.ts'
import { type GrowingField, filled, growingFields, wrapped } from './growing-fields.ts'
import { excesses } from './growth.ts'

interface KindField extends GrowingField {
  kind: string
  url: string
}

/** To search a list of so many items for each of them takes 0.1 s and more, to go through it half of that. */
const items = 16_000
const itemsLeastMs = 70
/** A pattern that goes back to the start at each letter takes half a second for so many letters. */
const letters = 32_000
const lettersLeastMs = 25
/** JSON may be 1,000 levels deep. */
const levels = 900
const levelsLeastMs = 25

let trial: ServerTrial

beforeAll(async () => {
  trial = await ServerTrial.open()
})

/** Fields of all kinds that are stored. A create leaves statuses out. */
function fieldsOf(kinds: Parameters<typeof growingFields>[1]): KindField[] {
  const seen = new Set<string>()
  return trial.parts.registry.all().filter(({ resource }) => !resource.virtual).flatMap(({ type, apiVersion, resource }) => {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const url = `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.plural}`
    return growingFields(type.name, kinds, seen).filter(({ way }) => way[0] !== 'status').map((field) => ({ kind: resource.kind, url, ...field }))
  })
}

function create({ url, way }: KindField, value: Json): () => Promise<unknown> {
  const body = wrapped(way, value) as { metadata?: object }
  body.metadata = { name: 'a', ...body.metadata }
  const text = jsonText(body)
  return () => trial.send('POST', `${url}?dryRun=All`, text)
}

const nameOf = ({ kind, way }: KindField) => `${kind} ${way.join('.')}`

function wrongOf(fields: readonly KindField[], large: number, leastMs: number, value: (field: KindField, size: number) => Json): Promise<string[]> {
  return excesses(fields.map((field) => ({ name: nameOf(field), make: (size) => create(field, value(field, Math.ceil(size))) })), large, leastMs)
}

/** Texts on which patterns go back. */
const texts = ['a-', '1,', '/a']

describe('a create costs what its body is long', () => {
  test('every list and map of every kind, with four times as many items', async () => {
    const fields = fieldsOf(['list', 'map'])
    expect(fields.length).toBeGreaterThan(200)
    expect(await wrongOf(fields, items, itemsLeastMs, ({ type }, size) => filled(type, size))).toEqual([])
  }, 600_000)

  test.each(texts)('every text of every kind, four times as long: %j again and again', async (piece) => {
    const fields = fieldsOf(['string', 'intOrString', 'quantity', 'bytes', 'time'])
    expect(fields.length).toBeGreaterThan(500)
    expect(await wrongOf(fields, letters, lettersLeastMs, (_, size) => piece.repeat(size / piece.length))).toEqual([])
  }, 600_000)

  test('every value without a type of its own, four times as deep', async () => {
    const fields = fieldsOf(['raw'])
    expect(fields.length).toBeGreaterThan(3)
    const deep = (size: number) => Array.from({ length: Math.max(1, size - 20) }).reduce<Json>((inner) => ({ type: 'object', properties: { a: inner } }), { type: 'string' })
    expect(await wrongOf(fields, levels / 2, levelsLeastMs, (_, size) => deep(size))).toEqual([])
  }, 600_000)
})
