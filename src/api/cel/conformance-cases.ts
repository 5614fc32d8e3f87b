import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { tests as parsingTests } from '@bufbuild/cel-spec/testdata/parsing.js'
import { toInt64 } from '../numbers/int64.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from './types.ts'
import { Double, PlainMap, TypeValue, Uint, type Value } from './values.ts'

/** One case of the language's own suite, in the JSON of its protobuf messages. */
export interface Case {
  section: string
  name: string
  expr: string
  disableCheck?: boolean
  checkOnly?: boolean
  container?: string
  typeEnv?: { name: string; ident?: { type: JsonType }; function?: unknown }[]
  bindings?: Record<string, { value: JsonValue }>
  value?: JsonValue
  typedResult?: { result?: JsonValue; deducedType?: JsonType }
  evalError?: unknown
}

type JsonType = Record<string, any>
type JsonValue = Record<string, any>

interface Suite {
  name: string
  suites?: Suite[]
  tests?: { original: Omit<Case, 'section'>; error?: string }[]
}

const collect = (suite: Suite, section: string): Case[] => [
  ...(suite.tests ?? []).map(({ original }) => ({ ...original, section, name: `${suite.name}/${original.name}` })),
  ...(suite.suites ?? []).flatMap((inner) => collect(inner, section)),
]

/** All cases with the names of their files. */
export const cases: Case[] = ((tests as unknown as Suite).suites ?? []).flatMap((suite) => collect(suite, suite.name))

const primitives: Record<string, CelType> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
}

/** A declared type; undefined for a message. */
export function readType(type: JsonType): CelType | undefined {
  if (type['primitive']) return primitives[type['primitive'] as string]
  if (type['wellKnown'] === 'TIMESTAMP') return timestampType
  if (type['wellKnown'] === 'DURATION') return durationType
  if ('dyn' in type) return dynType
  if ('null' in type) return nullType
  if (type['listType']) {
    const element = type['listType'].elemType ? readType(type['listType'].elemType) : dynType
    return element && listType(element)
  }
  if (type['mapType']) {
    const [key, value] = [readType(type['mapType'].keyType), readType(type['mapType'].valueType)]
    return key && value && mapType(key, value)
  }
  if (type['abstractType']) {
    const params = (type['abstractType'].parameterTypes ?? []).map(readType) as (CelType | undefined)[]
    if (params.includes(undefined)) return undefined
    return { kind: 'opaque', name: type['abstractType'].name, params: params as CelType[] }
  }
  return 'type' in type ? typeType() : undefined
}

const doubleTexts: Record<string, number> = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity }

/** A value; undefined for a message. */
export function readValue(json: JsonValue): Value | undefined {
  const [kind] = Object.keys(json)
  const given = json[kind!]
  switch (kind) {
    case 'nullValue':
      return null
    case 'boolValue':
    case 'stringValue':
      return given
    case 'int64Value':
      return toInt64(BigInt(given))
    case 'uint64Value':
      return new Uint(BigInt(given))
    case 'doubleValue':
      return new Double(typeof given === 'string' ? (doubleTexts[given] ?? Number(given)) : given)
    case 'bytesValue':
      return new Uint8Array(Buffer.from(given, 'base64'))
    case 'typeValue':
      return new TypeValue(given)
    case 'listValue': {
      const elements = ((given.values ?? []) as JsonValue[]).map(readValue)
      return elements.includes(undefined) ? undefined : (elements as Value[])
    }
    case 'mapValue':
      return readMap(given.entries ?? [])
    default:
      return undefined
  }
}

function readMap(entries: { key: JsonValue; value: JsonValue }[]): Value | undefined {
  const map = new PlainMap()
  for (const entry of entries) {
    const [key, value] = [readValue(entry.key), readValue(entry.value)]
    if (key === undefined || value === undefined) return undefined
    map.insert(key, value)
  }
  return map
}

/** Sections that test features which Kubernetes' expressions do not have. */
const leftOut: Record<string, string> = {
  bindings_ext: 'cel.bind is no part of Kubernetes',
  block_ext: 'cel.block is no part of Kubernetes',
  encoders_ext: 'base64 is no part of Kubernetes',
  enums: 'enums of protobuf',
  math_ext: 'math is no part of Kubernetes',
  proto2: 'messages of protobuf',
  proto2_ext: 'messages of protobuf',
  proto3: 'messages of protobuf',
  wrappers: 'messages of protobuf',
}

const messages =
  /TestAllTypes|NestedTestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)|google\.type|GlobalEnum|google\.protobuf\.(?:Timestamp|Duration)\s*\{/
const isMessage = (json: unknown): boolean =>
  /objectValue|enumValue|messageType|"wrapper"|"wellKnown":"ANY"/.test(JSON.stringify(json ?? null))

/** The reason why a case does not apply to this implementation; undefined if it applies. */
export function reasonToSkip(one: Case): string | undefined {
  if (Object.hasOwn(leftOut, one.section)) return leftOut[one.section]
  if (messages.test(one.expr) || [one.typeEnv, one.bindings, one.value, one.typedResult].some(isMessage))
    return 'messages of protobuf'
  if (one.container) return 'containers: Kubernetes has none'
  if (one.typeEnv?.some((declared) => declared.function !== undefined)) return 'functions that a test declares'
  if (one.expr.includes('`')) return 'names in backticks: Kubernetes escapes them in another way'
  if (one.disableCheck) return 'unchecked expressions: Kubernetes checks all'
  if (
    /\bmath\.|cel\.bind|\.quote\(|base64|\.reverse\(\)|\.first\(\)|\.last\(\)/.test(one.expr) &&
    !/strings\.quote/.test(one.expr)
  ) {
    return 'functions that are no part of Kubernetes'
  }
  return undefined
}

const collectTexts = (suite: Suite): { expr: string; error: string }[] => [
  ...(suite.tests ?? []).map(({ original, error = '' }) => ({
    expr: original.expr,
    error: error.replaceAll('ERROR: :', 'ERROR: <input>:'),
  })),
  ...(suite.suites ?? []).flatMap(collectTexts),
]

// cel-go's tests also try its parser with a limit of 32, without optionals, and with hundreds of mistakes at once.
const otherSettings = /\[\[\[\[|\[\d\]\[\d\]|!=-y|\b32 < 33|\+ 34|A\.B\.C|\?|existsOne|^ó|^-\[/

/** Expressions of cel-go's tests with all expected errors. No errors means that the expression is valid. */
export const texts = collectTexts(parsingTests as unknown as Suite).filter(({ expr }) => !otherSettings.test(expr))
