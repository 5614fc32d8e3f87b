import { ApiError, badRequest, invalidObject, notFound } from '../../api/errors.ts'
import { goFormat, goJsonName } from '../../api/printing/go-format.ts'
import { JsonSyntaxError, jsonText, parseJson } from '../../api/json/index.ts'
import { withManagedFields } from '../../api/managed-fields/index.ts'
import { type Json, type KubeObject, isFields } from '../../api/object.ts'
import { jsonPatchSteps, unknownOperationFields } from '../../api/patches/json-patch.ts'
import { applyMergePatch } from '../../api/patches/merge-patch.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { Turns } from '../../base/turns.ts'
import { DecodeError } from '../../api/schema/index.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type Expected, StrictError, decodeValue } from '../requests/body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import { type PatchType, patchType } from '../http/answer/negotiate.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { type WriteOptions, parseWriteOptions } from './options.ts'
import { apply, isApply } from './apply.ts'
import { checkName, checkNamespace, groupResource } from '../write/names.ts'
import { updateRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'

/** PATCH of an object or of a partial-update subresource. */
export async function patch(request: ResourceRequest): Promise<Result> {
  const { target } = request
  if (isApply(request)) return apply(request)
  const change = inOneTurn(request.body, 'parse', () => readPatch(request))
  if (request.body.giveWay) await request.body.giveWay()
  const namesOwners = request.body.bytes.includes('managedFields')
  const { group, version, kind } = target.resource
  const expected = { group, version, kind, type: target.type }
  const { stored } = await inOneTurn(request.body, 'write', () =>
    write(request, {
      operation: 'UPDATE',
      next: (current, owners) => change.apply(namesOwners ? withManagedFields(current!, owners) : current!, expected),
      rules: { ...updateRules(target, request.subresource), createsMissing: false },
      isRelative: true,
      dryRun: change.options.dryRun,
    }),
  )
  return { kind: 'stored', code: 200, target, stored }
}

interface Patch {
  options: WriteOptions
  /**
   * Returns the patched, decoded object and leaves `current` unchanged. A promise for a long patch, which yields in
   * between.
   */
  apply(current: KubeObject, expected: Expected): KubeObject | Promise<KubeObject>
}

/** Parses the patch by its content type. */
export function readPatch(request: ResourceRequest): Patch {
  const { target, name, namespace } = request
  const type = patchType(request.body.contentType, target.type.strategic === undefined)
  const options = parseWriteOptions(request.query, 'PatchOptions')
  const { value, duplicates } = parsePatch(request, type)
  if (!request.server.objects.get(target, namespace, name)) throw notFound(groupResource(target), name)
  const decode = (patched: Json, current: KubeObject, expected: Expected): KubeObject => {
    const known = request.warnings.length
    try {
      const repeated = duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`)
      const said =
        type === 'json'
          ? [...repeated, ...unknownOperationFields(value)].map((problem) => `json patch ${problem}`)
          : repeated
      const object = decodeValue(
        {
          value: patched,
          duplicates: [],
          text: undefined,
          madeOf: target.resource.sharesParts ? shareable(current) : undefined,
        },
        expected,
        options.fieldValidation,
        request.warnings,
        said,
      )
      // Kubernetes decodes the result of a strategic merge patch into the requested type and ignores a kind in the
      // patch.
      if (type !== 'strategic') checkKind(patched, expected)
      checkName(object, name)
      checkNamespace(target, object, namespace)
      return object
    } catch (e) {
      request.warnings.length = known
      if (!(e instanceof DecodeError)) throw e
      const quoted = type === 'strategic' ? goFormat(value) : jsonText(patched)
      const why =
        (type === 'strategic' && !(e instanceof StrictError) ? expected.type.strategic?.problem(patched) : undefined) ??
        e.message
      throw invalidPatch(quoted, why)
    }
  }
  const apply = (current: KubeObject, expected: Expected) => {
    const patched = applyPatch(request, type, { doc: current as unknown as Json, value, of: expected.type })
    return patched instanceof Promise
      ? patched.then((whole) => decode(whole, current, expected))
      : decode(patched, current, expected)
  }
  return { options, apply }
}

/** Every change writes metadata, so only its members can be shared. */
const shareable = (current: KubeObject) => ({ ...current, metadata: { ...current.metadata } }) as unknown as Json

const invalidPatch = (quoted: string, why: string) =>
  invalidObject({ group: '', kind: '' }, '', [invalid(Path.of('patch'), quoted, why)])

function parsePatch(request: ResourceRequest, type: PatchType): { value: Json; duplicates: string[] } {
  const context = type === 'strategic' ? '' : 'error decoding patch: '
  try {
    const parsed = parseJson(request.body.bytes.toString())
    const isObject = isFields(parsed.value)
    if (type !== 'json' && !isObject) {
      throw badRequest(
        `${context}json: cannot unmarshal ${goJsonName(parsed.value)} into Go value of type map[string]interface {}`,
      )
    }
    return parsed
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw badRequest(`${context}${e.message}`)
    throw e
  }
}

interface Patching {
  doc: Json
  value: Json
  of: ObjectType
}

/** A JSON patch with more operations is applied in slices. */
const fewOperations = 16

/** The patched value. A promise for a long patch, which yields in between. */
function applyPatch(
  { body, turns }: ResourceRequest,
  type: PatchType,
  { doc, value, of }: Patching,
): Json | Promise<Json> {
  if (type === 'json') {
    const isLong = body.giveWay !== undefined || (Array.isArray(value) && value.length > fewOperations)
    const steps = jsonPatchSteps(doc, value)
    return isLong ? applyInSlices(steps, turns) : applyAtOnce(steps)
  }
  const patched = type === 'merge' ? applyMergePatch(doc, value) : of.strategic!.merge(doc, value)
  return body.giveWay ? body.giveWay().then(() => patched) : patched
}

function applyAtOnce(steps: Generator<void, Json>): Json {
  for (;;) {
    const patched = stepOf(steps)
    if (patched !== undefined) return patched
  }
}

async function applyInSlices(steps: Generator<void, Json>, turns: Turns): Promise<Json> {
  for (;;) {
    const patched = stepOf(steps)
    if (patched !== undefined) return patched
    if (turns.isSpent) await turns.next()
  }
}

/**
 * JSON patches can nest deeper than the parser allows. A deeper result would overflow the stack of recursive functions.
 */
const maxDepth = 1000

const isDeeper = (value: Json, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)))

const tooDeep = () => new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/** Runs one step of a patch. Undefined if there are more. */
function stepOf(steps: Generator<void, Json>): Json | undefined {
  try {
    const step = steps.next()
    if (!step.done) return undefined
    if (!isDeeper(step.value, maxDepth)) return step.value
  } catch (e) {
    // The stack overflowed while copying or comparing.
    if (!(e instanceof RangeError)) throw e
  }
  throw tooDeep()
}

/** A patch must not change apiVersion or kind. */
function checkKind(patched: Json, expected: Expected): void {
  const said = patched as { apiVersion?: unknown; kind?: unknown }
  const apiVersion = expected.group ? `${expected.group}/${expected.version}` : expected.version
  if ((said.apiVersion ?? apiVersion) !== apiVersion || (said.kind ?? expected.kind) !== expected.kind) {
    throw invalidPatch(
      jsonText(patched),
      `no kind ${JSON.stringify(said.kind)} is registered for version ${JSON.stringify(said.apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    )
  }
}
