import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/api/json/index.ts'
import { parseFieldSelector } from '../../../src/api/selectors/parse-field-selector.ts'
import { parseLabelSelector } from '../../../src/api/selectors/parse-label-selector.ts'
import { convertBody } from '../../../src/server/parsing/foreign-body.ts'
import { jsonRows } from '../../attack/json-rows.ts'
import { requestRows } from '../../attack/request-rows.ts'
import { yamlRows } from '../../attack/yaml-rows.ts'
import { type Case, excess } from './growth.ts'

/** Linear parsers take 5 to 40 ms for so much; one that is quadratic with the smallest constant takes seconds. */
const bytes = 400_000
const leastMs = 60

const asBuffer = (body: string | Buffer | undefined): Buffer => (typeof body === 'string' ? Buffer.from(body) : body!)

const foreign: [name: string, make: Case][] = [...yamlRows, ...requestRows.filter(({ name }) => name.startsWith('protobuf'))].map(({ name, make }) => [
  name,
  (size) => {
    const { body, type } = make(size)
    const format = type === 'application/yaml' ? 'yaml' : 'protobuf'
    const bodyOf = { format, bytes: asBuffer(body), typeName: 'ConfigMap', maxValues: 1e9 } as const
    return () => convertBody(bodyOf)
  },
])

const texts: [name: string, make: Case][] = jsonRows.filter(({ make }) => make(1000).body !== undefined).map(({ name, make }) => [
  name,
  (size) => {
    const text = asBuffer(make(size).body).toString()
    return () => parseJson(text)
  },
])

const repeated = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length))
const selectorTexts = ['k=v,', 'k in (a,b),', '!k,', '(', '!', ' ', 'a-', ',', 'k in (', 'k notin (a),', '=', '\\', 'metadata.name=a,', 'a=\\,b,']
const selectors: [name: string, make: Case][] = selectorTexts.flatMap((piece): [string, Case][] => {
  const make = repeated(piece)
  return [
    [`a label selector of ${JSON.stringify(piece)}`, (size) => {
      const text = make(size)
      return () => parseLabelSelector(text)({ k: 'v' })
    }],
    [`a field selector of ${JSON.stringify(piece)}`, (size) => {
      const text = make(size)
      return () => parseFieldSelector(text).matches(() => 'a')
    }],
  ]
})

describe('a text costs what it is long', () => {
  test.each([...foreign, ...texts, ...selectors])('%s', async (name, make) => {
    expect(await excess(name, make, bytes, leastMs)).toBeUndefined()
  }, 120_000)
})
