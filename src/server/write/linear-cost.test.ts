import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../api/generated/schema.ts'
import { jsonText } from '../../api/json/index.ts'
import type { Json } from '../../api/object.ts'
import type { FieldType } from '../../api/schema/index.ts'
import { ServerTrial } from '../server-trial.ts'

/** A field that holds as many items as its sender likes, by the way to it from the object. */
interface Growing {
  kind: string
  url: string
  way: readonly string[]
  type: FieldType
}

const small = 500
const large = 4 * small
/** Four times as many may cost up to nine times as much: what is linear costs four times, what is quadratic sixteen. */
const maxRatio = 9
/** Less than this is noise. */
const leastMs = 25

/** A value of a type; texts differ by their number. */
function sample(type: FieldType, i: number, levels: number): Json {
  switch (type.kind) {
    case 'struct':
      if (levels === 0) return {}
      return Object.fromEntries(
        Object.values(schema[type.name]!.fields)
          .filter(({ type: inner, required }) => required || inner.kind === 'string')
          .map(({ name, type: inner, enum: values }) => [name, values ? values[0]! : sample(inner, i, levels - 1)]),
      )
    case 'list':
      return levels === 0 ? [] : [sample(type.of, i, levels - 1)]
    case 'map':
      return levels === 0 ? {} : { [`k${i}`]: sample(type.of, i, levels - 1) }
    case 'string':
      return `v${i}`
    case 'boolean':
      return true
    case 'bytes':
      return 'AAAA'
    case 'quantity':
      return String(i + 1)
    case 'time':
    case 'microTime':
      return '2026-01-01T00:00:00Z'
    case 'raw':
      return {}
    default:
      return (i % 30_000) + 1
  }
}

function grown(type: FieldType, count: number): Json {
  if (type.kind === 'list') return Array.from({ length: count }, (_, i) => sample(type.of, i, 2))
  if (type.kind === 'map') return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, sample(type.of, i, 2)]))
  return 'a-'.repeat(count * 10)
}

const wrapped = (way: readonly string[], value: Json): Json =>
  way.reduceRight<Json>((inner, step) => (step === '[]' ? [inner] : { [step]: inner }), value)

/** Every list and map below a type, each structure's once however often it occurs. */
function growing(typeName: string, way: readonly string[], seen: Set<string>, found: { way: string[]; type: FieldType }[]): void {
  for (const { name, type } of Object.values(schema[typeName]!.fields)) {
    const key = `${typeName}.${name}`
    if (seen.has(key)) continue
    seen.add(key)
    let at = [...way, name]
    if (type.kind === 'list' || type.kind === 'map') found.push({ way: at, type })
    let inner: FieldType = type
    while (inner.kind === 'list') {
      inner = inner.of
      at = [...at, '[]']
    }
    if (inner.kind === 'struct') growing(inner.name, at, seen, found)
  }
}

let trial: ServerTrial
let all: Growing[]

beforeAll(async () => {
  trial = await ServerTrial.open()
  const seen = new Set<string>()
  all = trial.parts.registry.all().filter(({ resource }) => !resource.virtual).flatMap(({ type, apiVersion, resource }) => {
    const found: { way: string[]; type: FieldType }[] = []
    growing(type.name, [], seen, found)
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const url = `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.plural}`
    return found.map((one) => ({ kind: resource.kind, url, ...one }))
  })
})

/** CPU of a create, whatever comes of it. */
async function costMs({ url, way, type }: Growing, count: number): Promise<number> {
  const body = wrapped(way, grown(type, count)) as { metadata?: object }
  body.metadata = { name: 'a', ...body.metadata }
  jsonText(body)
  const before = process.cpuUsage()
  await trial.run('POST', `${url}?dryRun=All`, body).catch(() => {})
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** How often a suspicion is looked into. */
const tries = 8

/** The least that few and many cost, where many cost too much however often that is tried: other work only ever makes it more. */
async function compare(one: Growing): Promise<{ less: number; more: number } | undefined> {
  let [less, more] = [Infinity, Infinity]
  for (let i = 0; i < tries; i++) {
    more = Math.min(more, await costMs(one, large))
    less = Math.min(less, await costMs(one, small))
    if (i >= 2 && (more < leastMs || more <= maxRatio * Math.max(less, leastMs / 10))) return undefined
  }
  return { less, more }
}

describe('a create costs what its body is long', () => {
  test('every list and map of every kind, four times as long', async () => {
    expect(all.length).toBeGreaterThan(200)
    const wrong: string[] = []
    for (const one of all) {
      await costMs(one, 10)
      if ((await costMs(one, large)) < leastMs) continue
      const costs = await compare(one)
      if (costs) wrong.push(`${one.kind} ${one.way.join('.')}: ${costs.less.toFixed(1)} ms, then ${costs.more.toFixed(1)} ms`)
    }
    expect(wrong).toEqual([])
  }, 60_000)
})
