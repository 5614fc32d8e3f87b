import { badRequest, invalidObject } from '../../api/errors.ts'
import { goJsonName } from '../../api/printing/go-format.ts'
import { JsonSyntaxError, jsonText, parseJson, parseYaml, readJson } from '../../api/json/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { ObjectType } from '../../api/object-type.ts'
import { ProtobufError } from '../../api/protobuf/index.ts'
import { DecodeError } from '../../api/schema/index.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { bodyType } from '../http/answer/negotiate.ts'
import type { Registry } from '../registry/registry.ts'
import { listKindOf } from '../registry/resource.ts'
import { readProtobuf } from '../parsing/foreign-body.ts'
import { maxValues, refuseValues, yamlLimit } from './crowded-body.ts'
import { inOneTurn } from './long-turns.ts'
import type { RequestBody } from './request.ts'
import type { FieldValidation } from '../verbs/options.ts'

/** The expected type of a body. */
export interface Expected {
  group: string
  version: string
  kind: string
  type: ObjectType
  /** Other versions with the same fields, such as `policy/v1beta1`. */
  alsoVersions?: readonly string[]
}

const apiVersionOf = (e: { group: string; version: string }) => (e.group ? `${e.group}/${e.version}` : e.version)

const parseFailure = "couldn't get version/kind; json parse error: "

const goStruct =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** The first 30 bytes of a body, for error messages: text if it starts like JSON, hexadecimal otherwise. */
function excerpt({ bytes: sent, value }: RequestBody): string {
  const bytes = value === undefined ? sent : Buffer.from(jsonText(value))
  if (bytes.length === 0) return '<empty>'
  const isJson = bytes[0] === 0x7b
  const limit = 30
  const shown = isJson ? bytes.subarray(0, limit).toString() : bytes.subarray(0, limit).toString('hex')
  return bytes.length > limit ? `${shown} ...` : shown
}

export interface ParsedBody {
  value: Json
  /** Paths of duplicate fields. */
  duplicates: string[]
  /** Messages of the YAML parser about duplicate mapping keys. */
  repeated?: string[]
  /** True if a number has a fraction or an exponent. */
  hasFractions?: boolean
  /** The JSON source, for errors that quote numbers verbatim. Undefined for YAML. */
  text: string | undefined
  /** The value is not shared: decoding may reuse it as the object. */
  isOwned?: boolean
  /** The decoded object that this value was derived from. The new object shares its unchanged parts. */
  madeOf?: Json
}

/** Parses a body by its content type. `describe` formats the error for a body that cannot be parsed. */
export async function parseBody(
  body: RequestBody,
  type: ObjectType,
  describe: (problem: string, shown: string) => string,
): Promise<ParsedBody> {
  const format = bodyType(body.contentType)
  try {
    if (body.giveWay) await body.giveWay()
    if (format === 'json') return parseJsonBody(body)
    return body.convert
      ? await parseElsewhere(body, format, type)
      : inOneTurn(body, 'parse', () => parseForeign(body, format, type))
  } catch (e) {
    if (e instanceof ProtobufError) throw badRequest(describe(e.message, excerpt(body)))
    if (!(e instanceof JsonSyntaxError)) throw e
    throw badRequest(describe(format === 'yaml' ? e.message : parseFailure + e.message, excerpt(body)))
  }
}

function parseJsonBody(body: RequestBody): ParsedBody {
  return inOneTurn(body, 'parse', () => {
    const text = body.bytes.toString()
    const { value, duplicates, hasFractions } = parseJson(text)
    return { value, duplicates, hasFractions, text, isOwned: true }
  })
}

function parseForeign({ bytes }: RequestBody, format: 'yaml' | 'protobuf', type: ObjectType): ParsedBody {
  if (format === 'protobuf') return { value: readProtobuf(bytes, type.protobufType), duplicates: [], text: undefined }
  const text = bytes.toString()
  return { ...parseYaml(text, yamlLimit(text)), text: undefined }
}

/** Parses a body that a parser thread first converts to JSON, which is much faster to read. */
export async function parseElsewhere(
  body: RequestBody,
  format: 'yaml' | 'protobuf',
  type: ObjectType,
): Promise<ParsedBody> {
  const converted = await body.convert!({ format, bytes: body.bytes, typeName: type.protobufType, maxValues })
  if (converted.kind === 'crowded') return refuseValues()
  if (converted.kind === 'malformed')
    throw format === 'yaml' ? new JsonSyntaxError(converted.message) : new ProtobufError(converted.message)
  const { text, repeated } = converted
  const value = inOneTurn(
    body,
    'parse',
    () => readJson(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()) as Json,
  )
  return { value, duplicates: [], repeated, text: undefined, isOwned: true }
}

/** Reads apiVersion and kind of a body. */
function typeMeta(value: Json, describe: (problem: string) => string): { apiVersion: string; kind: string } {
  if (value === null) return { apiVersion: '', kind: '' }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest(describe(`${parseFailure}json: cannot unmarshal ${goJsonName(value)} into ${goStruct}`))
  }
  for (const field of ['apiVersion', 'kind'] as const) {
    const said = value[field]
    if (said === undefined || said === null || typeof said === 'string') continue
    throw badRequest(
      describe(
        `${parseFailure}json: cannot unmarshal ${goJsonName(said)} into Go struct field .${field} of type string`,
      ),
    )
  }
  return { apiVersion: (value.apiVersion as string | null) ?? '', kind: (value.kind as string | null) ?? '' }
}

/** Decodes a body of the expected kind. `fieldValidation` decides whether unknown and duplicate fields are errors. */
export async function decodeBody(
  body: RequestBody,
  expected: Expected,
  registry: Registry,
  fieldValidation: FieldValidation,
  warnings: string[],
): Promise<KubeObject> {
  const unrecognized = (problem: string, shown = excerpt(body)) =>
    `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${shown})`
  // The value is decoded before the first await: an in-process sender may mutate it once the call returns.
  const parsed =
    body.value === undefined
      ? await parseBody(body, expected.type, unrecognized)
      : { value: body.value, duplicates: [], text: undefined }
  if (body.giveWay) await body.giveWay()
  const said = typeMeta(parsed.value, unrecognized)
  const apiVersion = said.apiVersion || apiVersionOf(expected)
  const kind = said.kind || expected.kind
  if (apiVersion.split('/').length > 2) throw badRequest(unrecognized(`unexpected GroupVersion string: ${apiVersion}`))
  const cannot = (kindSaid: string, why: string) =>
    badRequest(
      `${kindSaid} in version ${JSON.stringify(apiVersion.split('/').at(-1))} cannot be handled as a ${expected.kind}: ${why}`,
    )
  if (expected.type.isCustom) checkCustomType(said, parsed.value, expected)
  const isExpected = apiVersion === apiVersionOf(expected) || expected.alsoVersions?.includes(apiVersion)
  if (!isExpected || kind !== expected.kind) {
    throw cannot(kind, wrongType(registry, apiVersion, kind, expected))
  }
  try {
    const object = inOneTurn(body, 'decode', () => decodeValue(parsed, expected, fieldValidation, warnings))
    body.heard?.(object)
    return object
  } catch (e) {
    if (e instanceof DecodeError) throw cannot(kind, e.message)
    throw e
  }
}

/** Custom resources must set apiVersion and kind. The error messages differ from those of built-in kinds. */
function checkCustomType(said: { apiVersion: string; kind: string }, value: Json, expected: Expected): void {
  const wanted = apiVersionOf(expected)
  if (said.apiVersion !== wanted) {
    throw badRequest(
      `the API version in the data (${said.apiVersion}) does not match the expected API version (${wanted})`,
    )
  }
  if (said.kind === '') throw badRequest(`Object 'Kind' is missing in '${jsonText(value)}'`)
  if (said.kind === expected.kind) return
  const { name = '' } = (value as { metadata?: { name?: string } }).metadata ?? {}
  throw invalidObject({ group: expected.group, kind: said.kind }, name, [
    invalid(Path.of('kind'), said.kind, `must be ${expected.kind}`),
  ])
}

/**
 * Decodes a parsed value by its schema. Throws DecodeError, also for unknown and duplicate fields under strict
 * validation. `known` lists problems that were found earlier.
 */
export function decodeValue(
  parsed: ParsedBody,
  expected: Expected,
  fieldValidation: FieldValidation,
  warnings: string[],
  known: readonly string[] = [],
): KubeObject {
  const { text, duplicates, hasFractions, isOwned, madeOf } = parsed
  const decoded = expected.type.decode(parsed.value, { text, duplicates, hasFractions, isOwned, madeOf })
  const repeated = parsed.repeated ?? []
  const problems = [...known, ...decoded.problems]
  if (fieldValidation === 'Warn') {
    warnings.push(...repeated, ...problems)
  } else if (fieldValidation === 'Strict' && (problems.length || repeated.length)) {
    const yaml = repeated.length ? [`yaml: unmarshal errors:\n  ${repeated.join('\n  ')}`] : []
    throw new StrictError(`strict decoding error: ${[...yaml, ...problems].join(', ')}`)
  }
  const object = decoded.object as unknown as KubeObject
  object.apiVersion = apiVersionOf(expected)
  object.kind = expected.kind
  return object
}

/** The value has unknown or duplicate fields under strict validation. */
export class StrictError extends DecodeError {}

const shortVersion = (apiVersion: string) => apiVersion.split('/').at(-1)!

function wrongType(registry: Registry, apiVersion: string, kind: string, expected: Expected): string {
  const isKnown = registry
    .all()
    .some((r) => r.apiVersion === apiVersion && (r.resource.kind === kind || listKindOf(r.resource) === kind))
  if (!isKnown)
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`
  const internal = expected.group === '' ? 'core' : expected.group.split('.')[0]
  return `converting (${shortVersion(apiVersion)}.${kind}) to (${internal}.${expected.kind}): unknown conversion`
}
