import { ApiError, badRequest, invalidObject, notFound } from '../../api/errors.ts'
import { goFormat, goJsonName } from '../../api/go-format.ts'
import { JsonSyntaxError, jsonText, parseJson } from '../../api/json/index.ts'
import { withManagedFields } from '../../api/managed-fields/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { applyJsonPatch, unknownOperationFields } from '../../api/patches/json-patch.ts'
import { applyMergePatch } from '../../api/patches/merge-patch.ts'
import type { ObjectType } from '../../api/object-type.ts'
import { DecodeError } from '../../api/schema/index.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type Expected, StrictError, decodeValue } from '../requests/body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import { type PatchType, patchType } from '../http/negotiate.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { type WriteOptions, parseWriteOptions } from './options.ts'
import { apply, isApply } from './apply.ts'
import { checkName, checkNamespace } from './identity.ts'
import { groupResource } from '../write/names.ts'
import { updateRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'

/** PATCH of an object, or of the part of it that a subresource stands for. */
export async function patch(request: ResourceRequest): Promise<Result> {
  const { target } = request
  if (isApply(request)) return apply(request)
  const change = inOneTurn(request.body, 'parse', () => readPatch(request))
  const namesOwners = request.body.bytes.includes('managedFields')
  const { group, version, kind } = target.resource
  const expected = { group, version, kind, type: target.type }
  const { stored } = await inOneTurn(request.body, 'write', () => write(request, {
    operation: 'UPDATE',
    next: (current, owners) => change.apply(namesOwners ? withManagedFields(current!, owners) : current!, expected),
    rules: { ...updateRules(target, request.subresource), createsMissing: false },
    isRelative: true,
    dryRun: change.options.dryRun,
  }))
  return { kind: 'stored', code: 200, target, stored }
}

export interface Patch {
  options: WriteOptions
  /** The patched object, decoded; the current one is left as it is. */
  apply(current: KubeObject, expected: Expected): KubeObject
}

/** Reads the patch of a request by its content type. */
export function readPatch(request: ResourceRequest): Patch {
  const { target, name, namespace } = request
  const type = patchType(request.body.contentType, target.type.strategic === undefined)
  const options = parseWriteOptions(request.query, 'PatchOptions')
  const { value, duplicates } = parsePatch(request, type)
  if (!request.server.objects.get(target, namespace, name)) throw notFound(groupResource(target), name)
  const apply = (current: KubeObject, expected: Expected): KubeObject => {
    const patched = applyPatch(type, current as unknown as Json, value, expected.type)
    const known = request.warnings.length
    try {
      const repeated = duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`)
      const said = type === 'json' ? [...repeated, ...unknownOperationFields(value)].map((problem) => `json patch ${problem}`) : repeated
      const object = decodeValue({ value: patched, duplicates: [], text: undefined, madeOf: target.resource.sharesParts ? shareable(current) : undefined }, expected, options.fieldValidation, request.warnings, said)
      // Kubernetes puts a strategic patch's result into the Go type at hand: a kind that the patch names is passed over.
      if (type !== 'strategic') checkKind(patched, expected)
      checkName(object, name)
      checkNamespace(target, object, namespace)
      return object
    } catch (e) {
      request.warnings.length = known
      if (!(e instanceof DecodeError)) throw e
      const quoted = type === 'strategic' ? goFormat(value) : jsonText(patched)
      const why = (type === 'strategic' && !(e instanceof StrictError) ? expected.type.strategic?.problem(patched) : undefined) ?? e.message
      throw invalidPatch(quoted, why)
    }
  }
  return { options, apply }
}

/** Metadata are written with every change: only what is in them can be shared. */
const shareable = (current: KubeObject) => ({ ...current, metadata: { ...current.metadata } }) as unknown as Json

const invalidPatch = (quoted: string, why: string) => invalidObject({ group: '', kind: '' }, '', [invalid(Path.of('patch'), quoted, why)])

function parsePatch(request: ResourceRequest, type: PatchType): { value: Json; duplicates: string[] } {
  const context = type === 'strategic' ? '' : 'error decoding patch: '
  try {
    const parsed = parseJson(request.body.bytes.toString())
    const isObject = typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)
    if (type !== 'json' && !isObject) {
      throw badRequest(`${context}json: cannot unmarshal ${goJsonName(parsed.value)} into Go value of type map[string]interface {}`)
    }
    return parsed
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw badRequest(`${context}${e.message}`)
    throw e
  }
}

function applyPatch(type: PatchType, doc: Json, value: Json, of: ObjectType): Json {
  switch (type) {
    case 'json':
      return walkable(() => applyJsonPatch(doc, value))
    case 'merge':
      return applyMergePatch(doc, value)
    default:
      return of.strategic!.merge(doc, value)
  }
}

/** Operations can nest what no text did: past this, whoever walks the result would run out of stack. */
const maxDepth = 1000

const isDeeper = (value: Json, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)))

function walkable(apply: () => Json): Json {
  try {
    const patched = apply()
    if (!isDeeper(patched, maxDepth)) return patched
  } catch (e) {
    // The same, found out by copying or comparing on the way.
    if (!(e instanceof RangeError)) throw e
  }
  throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

/** A patch may not turn an object into another. */
function checkKind(patched: Json, expected: Expected): void {
  const said = patched as { apiVersion?: unknown; kind?: unknown }
  const apiVersion = expected.group ? `${expected.group}/${expected.version}` : expected.version
  if ((said.apiVersion ?? apiVersion) !== apiVersion || (said.kind ?? expected.kind) !== expected.kind) {
    throw invalidPatch(jsonText(patched), `no kind ${JSON.stringify(said.kind)} is registered for version ${JSON.stringify(said.apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`)
  }
}
