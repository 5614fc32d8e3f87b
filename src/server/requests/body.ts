import { badRequest, invalidObject } from '../../api/errors.ts'
import { goJsonName } from '../../api/go-format.ts'
import { JsonSyntaxError, jsonText, parseJson, parseYaml } from '../../api/json/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { ObjectType } from '../../api/object-type.ts'
import { ProtobufError, openEnvelope } from '../../api/protobuf/index.ts'
import { DecodeError } from '../../api/schema/index.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { nextTurn } from '../../base/turns.ts'
import { bodyType } from '../http/negotiate.ts'
import { maxObjectBytes } from '../objects/limits.ts'
import type { Registry } from '../registry/registry.ts'
import { listKindOf } from '../registry/resource.ts'
import { longBody, yamlLimit } from './crowded-body.ts'
import { inOneTurn } from './long-turns.ts'
import { refuseHopeless } from './object-size.ts'
import type { RequestBody } from './request.ts'
import type { FieldValidation } from '../verbs/options.ts'

/** What a body is expected to be. */
export interface Expected {
  group: string
  version: string
  kind: string
  type: ObjectType
  /** Other versions that have the same fields, such as `policy/v1beta1`. */
  alsoVersions?: readonly string[]
}

const apiVersionOf = (e: { group: string; version: string }) => (e.group ? `${e.group}/${e.version}` : e.version)

const parseFailure = "couldn't get version/kind; json parse error: "

const goStruct =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** The beginning of a body, as Kubernetes shows it in errors: text where it looks like JSON, hexadecimal otherwise. */
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
  /** Paths of fields that were said twice. */
  duplicates: string[]
  /** What YAML says of keys that stand twice in a mapping. */
  repeated?: string[]
  /** Whether a number was written with a fraction or an exponent. */
  hasFractions?: boolean
  /** The source, for errors that quote numbers as they were written; absent for YAML. */
  text: string | undefined
  /** Nobody else has the value: it may become the object. */
  isOwned?: boolean
  /** The decoded value that this one was made out of: the object shares with it what has not changed. */
  madeOf?: Json
}

/** Parses a body by its content type. `describe` gives the sentence for what cannot be parsed at all. */
export async function parseBody(body: RequestBody, type: ObjectType, describe: (problem: string, shown: string) => string): Promise<ParsedBody> {
  const format = bodyType(body.contentType)
  try {
    if (format === 'protobuf') return parseProtobuf(body.bytes, type)
    const text = body.bytes.toString()
    if (format === 'yaml') return { ...parseYaml(text, yamlLimit(text)), text: undefined }
    const { value, duplicates, hasFractions } = parseJson(text)
    return { value, duplicates, hasFractions, text, isOwned: true }
  } catch (e) {
    if (e instanceof ProtobufError) throw badRequest(describe(e.message, excerpt(body)))
    if (!(e instanceof JsonSyntaxError)) throw e
    throw badRequest(describe(format === 'yaml' ? e.message : parseFailure + e.message, excerpt(body)))
  }
}

function parseProtobuf(bytes: Buffer, { protobuf }: ObjectType): ParsedBody {
  const { apiVersion, kind, raw } = openEnvelope(bytes)
  // What is of another kind is refused by its name; there is no need to read it.
  return { value: { ...(protobuf?.goName === kind ? protobuf.read(raw) : {}), apiVersion, kind }, duplicates: [], text: undefined }
}

/** What type a body says it is. */
function typeMeta(value: Json, describe: (problem: string) => string): { apiVersion: string; kind: string } {
  if (value === null) return { apiVersion: '', kind: '' }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest(describe(`${parseFailure}json: cannot unmarshal ${goJsonName(value)} into ${goStruct}`))
  }
  for (const field of ['apiVersion', 'kind'] as const) {
    const said = value[field]
    if (said === undefined || said === null || typeof said === 'string') continue
    throw badRequest(describe(`${parseFailure}json: cannot unmarshal ${goJsonName(said)} into Go struct field .${field} of type string`))
  }
  return { apiVersion: (value.apiVersion as string | null) ?? '', kind: (value.kind as string | null) ?? '' }
}

/** Decodes a body that must be of one kind. Unknown and duplicate fields are refused, told or passed over. */
export async function decodeBody(
  body: RequestBody,
  expected: Expected,
  registry: Registry,
  fieldValidation: FieldValidation,
  warnings: string[],
): Promise<KubeObject> {
  const unrecognized = (problem: string, shown = excerpt(body)) =>
    `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${shown})`
  // A value is decoded before anybody is waited for: whose it is may change it as soon as the call returns.
  const parsed = body.value === undefined ? await inOneTurn(body, 'parse', () => parseBody(body, expected.type, unrecognized)) : { value: body.value, duplicates: [], text: undefined }
  if (body.bytes.length > longBody) await nextTurn()
  const said = typeMeta(parsed.value, unrecognized)
  const apiVersion = said.apiVersion || apiVersionOf(expected)
  const kind = said.kind || expected.kind
  if (apiVersion.split('/').length > 2) throw badRequest(unrecognized(`unexpected GroupVersion string: ${apiVersion}`))
  const cannot = (kindSaid: string, why: string) =>
    badRequest(`${kindSaid} in version ${JSON.stringify(apiVersion.split('/').at(-1))} cannot be handled as a ${expected.kind}: ${why}`)
  if (expected.type.isCustom) checkCustomType(said, parsed.value, expected)
  const isExpected = apiVersion === apiVersionOf(expected) || expected.alsoVersions?.includes(apiVersion)
  if (!isExpected || kind !== expected.kind) {
    throw cannot(kind, wrongType(registry, apiVersion, kind, expected))
  }
  try {
    const object = inOneTurn(body, 'decode', () => decodeValue(parsed, expected, fieldValidation, warnings))
    body.heard?.(object)
    if (body.bytes.length > maxObjectBytes) refuseHopeless(object)
    return object
  } catch (e) {
    if (e instanceof DecodeError) throw cannot(kind, e.message)
    throw e
  }
}

/** Custom resources must say what they are, in words of their own. */
function checkCustomType(said: { apiVersion: string; kind: string }, value: Json, expected: Expected): void {
  const wanted = apiVersionOf(expected)
  if (said.apiVersion !== wanted) {
    throw badRequest(`the API version in the data (${said.apiVersion}) does not match the expected API version (${wanted})`)
  }
  if (said.kind === '') throw badRequest(`Object 'Kind' is missing in '${jsonText(value)}'`)
  if (said.kind === expected.kind) return
  const { name = '' } = ((value as { metadata?: { name?: string } }).metadata ?? {})
  throw invalidObject({ group: expected.group, kind: said.kind }, name, [invalid(Path.of('kind'), said.kind, `must be ${expected.kind}`)])
}

/** Decodes a parsed value by schema; throws DecodeError, also for unknown and duplicate fields when they are to be refused. `known` are problems found before. */
export function decodeValue(parsed: ParsedBody, expected: Expected, fieldValidation: FieldValidation, warnings: string[], known: readonly string[] = []): KubeObject {
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

/** A value that fits but has more in it than its type. */
export class StrictError extends DecodeError {}

const shortVersion = (apiVersion: string) => apiVersion.split('/').at(-1)!

function wrongType(registry: Registry, apiVersion: string, kind: string, expected: Expected): string {
  const isKnown = registry.all().some((r) => r.apiVersion === apiVersion && (r.resource.kind === kind || listKindOf(r.resource) === kind))
  if (!isKnown) return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`
  const internal = expected.group === '' ? 'core' : expected.group.split('.')[0]
  return `converting (${shortVersion(apiVersion)}.${kind}) to (${internal}.${expected.kind}): unknown conversion`
}
