import { ApiError, badRequest } from '../../api/errors.ts'
import { goJsonName } from '../../api/printing/go-format.ts'
import { JsonSyntaxError, goJson, parseJson, parseYaml, sortKeys } from '../../api/json/index.ts'
import {
  type Applied,
  type Conflict,
  type OwnedWrite,
  type Owner,
  applyConfiguration,
  conflictText,
  lastAppliedFields,
  pathTexts,
  problemsOf,
  problemsText,
} from '../../api/managed-fields/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { areTooLong } from '../../api/validation/object-meta.ts'
import { patchType } from '../http/answer/negotiate.ts'
import { startsJson } from '../parsing/count-values.ts'
import { type Expected, type ParsedBody, decodeValue, parseElsewhere } from '../requests/body.ts'
import { yamlLimit } from '../requests/crowded-body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { ownedWrite } from '../write/ownership.ts'
import { updateRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import { checkName, checkNamespace } from '../write/names.ts'
import { type WriteOptions, parseWriteOptions } from './options.ts'

type Config = { [key: string]: Json }

/** True if a PATCH is a server-side apply. */
export const isApply = ({ body, target }: ResourceRequest): boolean =>
  patchType(body.contentType, target.type.strategic === undefined) === 'apply'

/** Server-side apply: merges the configuration into the object, or creates it. */
export async function apply(request: ResourceRequest): Promise<Result> {
  const { target, subresource } = request
  const { group, version, kind } = target.resource
  const expected = { group, version, kind, type: target.type }
  const options = parseWriteOptions(request.query, 'apply')
  const config = await readConfiguration(request, expected, options)
  const about = ownedWrite(request, 'Apply')
  const { giveWay } = request.body
  let settled: readonly Owner[] = []
  const { stored, isCreated } = await inOneTurn(request.body, 'write', () =>
    write(request, {
      operation: 'UPDATE',
      next(current, known) {
        const { value, owners } = applied(about, known, current, config, options)
        settled = owners
        const decode = () => decodeApplied(request, value as Json, expected, current)
        return giveWay ? giveWay().then(decode) : decode()
      },
      owners: () => settled,
      rules: { ...updateRules(target, subresource), createsMissing: subresource === '' },
      isApply: true,
      isRelative: true,
      dryRun: options.dryRun,
    }),
  )
  return { kind: 'stored', code: isCreated ? 201 : 200, target, stored }
}

function decodeApplied(
  request: ResourceRequest,
  value: Json,
  expected: Expected,
  current: KubeObject | undefined,
): KubeObject {
  const { target, name, namespace } = request
  const madeOf =
    current && target.resource.sharesParts
      ? ({ ...current, metadata: { ...current.metadata } } as unknown as Json)
      : undefined
  const object = decodeValue(
    { value, duplicates: [], text: undefined, ...(madeOf ? { madeOf } : {}) },
    expected,
    'Ignore',
    request.warnings,
  )
  checkName(object, name)
  checkNamespace(target, object, namespace)
  return object
}

/** Parses the configuration and checks its kind. */
export async function readConfiguration(
  request: ResourceRequest,
  expected: Expected,
  { fieldValidation }: WriteOptions,
): Promise<Config> {
  const { giveWay } = request.body
  if (giveWay) await giveWay()
  const parsed = parseConfiguration(request, fieldValidation === 'Strict')
  // A short body is parsed without an await, because an in-process sender may change it.
  const config = parsed instanceof Promise ? await parsed : parsed
  if (giveWay) await giveWay()
  const { apiVersion, kind } = config
  const wanted = expected.group ? `${expected.group}/${expected.version}` : expected.version
  if (apiVersion !== wanted || kind !== expected.kind)
    throw badRequest(`invalid object type: ${typeText(apiVersion, kind)}`)
  const {
    name = '',
    namespace = '',
    managedFields,
  } = (config.metadata ?? {}) as { name?: string; namespace?: string; managedFields?: Json }
  if (managedFields !== undefined && managedFields !== null) throw badRequest('metadata.managedFields must be nil')
  const problems = expected.type.mergeType ? problemsOf(expected.type.mergeType, config) : []
  if (problems.length === 0) return config
  throw new ApiError(
    500,
    '',
    `failed to create typed patch object (${namespace}/${name}; ${typeText(apiVersion, kind)}): ${problemsText(problems)}`,
  )
}

/** A type as Go formats it: `apps/v1, Kind=Deployment`. */
function typeText(apiVersion: Json | undefined, kind: Json | undefined): string {
  const said = typeof apiVersion === 'string' ? apiVersion : ''
  return `${said.includes('/') ? said : `/${said}`}, Kind=${typeof kind === 'string' ? kind : ''}`
}

type Said = Pick<ParsedBody, 'value' | 'repeated'>

function parseConfiguration({ body, target }: ResourceRequest, isStrict: boolean): Config | Promise<Config> {
  const failed = isStrict ? 'error strict decoding YAML: ' : 'error decoding YAML: '
  const fail = (e: unknown): never => {
    throw e instanceof JsonSyntaxError ? badRequest(`${failed}error converting YAML to JSON: ${e.message}`) : e
  }
  const asConfig = ({ value, repeated = [] }: Said): Config => {
    if (isStrict && repeated.length)
      throw badRequest(`${failed}error converting YAML to JSON: yaml: unmarshal errors:\n  ${repeated.join('\n  ')}`)
    if (value === null || value === undefined) return {}
    if (typeof value !== 'object' || Array.isArray(value)) {
      const why = `json: cannot unmarshal ${goJsonName(value)} into Go value of type map[string]interface {}`
      throw badRequest(`${failed}error unmarshaling JSON: while decoding JSON: ${why}`)
    }
    return value
  }
  const said = startsJson(body.bytes) ? inOneTurn(body, 'parse', () => asJson(body.bytes)) : undefined
  if (!said && body.convert) return parseElsewhere(body, 'yaml', target.type).then(asConfig).catch(fail)
  try {
    return asConfig(said ?? inOneTurn(body, 'parse', () => asYaml(body.bytes)))
  } catch (e) {
    return fail(e)
  }
}

/** Most clients send JSON, which is valid YAML but faster to parse as JSON. Undefined for anything else. */
function asJson(bytes: Buffer): Said | undefined {
  try {
    const { value, duplicates } = parseJson(bytes.toString())
    return duplicates.length === 0 ? { value } : undefined
  } catch (e) {
    if (!(e instanceof JsonSyntaxError)) throw e
    return undefined
  }
}

function asYaml(bytes: Buffer): Said {
  const text = bytes.toString()
  return parseYaml(text, yamlLimit(text))
}

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Applies the configuration or throws conflicts. kubectl takes over fields from its own client-side apply without
 * conflict.
 */
export function applied(
  about: OwnedWrite,
  owners: readonly Owner[],
  live: KubeObject | undefined,
  config: Config,
  { force }: { force: boolean },
  /** The version in which conflicts name managers. Default: that of each manager. */
  apiVersion?: string,
): Applied {
  const first = applyConfiguration(about, owners, live, config, force)
  const isKubectl = about.by.manager === 'kubectl'
  const result = first.conflicts.length && isKubectl ? takenOver(about, owners, live!, config, first) : first
  if (result.conflicts.length) {
    const { message, causes } = conflictText(
      apiVersion ? result.conflicts.map((one) => shownIn(one, apiVersion)) : result.conflicts,
    )
    throw new ApiError(409, 'Conflict', message, { causes })
  }
  return isKubectl ? withLastApplied(result, config) : result
}

const shownIn = ({ with: { manager, operation, subresource }, path }: Conflict, apiVersion: string): Conflict => ({
  with: { manager, operation, apiVersion, subresource },
  path,
})

function takenOver(
  about: OwnedWrite,
  owners: readonly Owner[],
  live: KubeObject,
  config: Config,
  refused: Applied,
): Applied {
  const text = live.metadata.annotations?.[lastAppliedAnnotation]
  if (!text) return refused
  try {
    const last = parseJson(text).value as Config
    if (last.apiVersion !== config.apiVersion) return refused
    const allowed = new Set(pathTexts(lastAppliedFields(about.type, live, last)))
    const conflicts = refused.conflicts.filter(({ path }) => !allowed.has(path))
    return conflicts.length ? { ...refused, conflicts } : applyConfiguration(about, owners, live, config, true)
  } catch (e) {
    if (e instanceof JsonSyntaxError) return refused
    throw e
  }
}

/** Updates an existing last-applied annotation of client-side apply when kubectl applies. */
function withLastApplied(result: Applied, config: Config): Applied {
  const value = result.value as KubeObject
  const annotations = value.metadata?.annotations
  if (annotations?.[lastAppliedAnnotation] === undefined) return result
  const { metadata, ...rest } = config as { metadata?: { annotations?: Record<string, Json> } }
  const { [lastAppliedAnnotation]: _, ...others } = metadata?.annotations ?? {}
  const said = { ...rest, metadata: { ...metadata, ...(metadata?.annotations ? { annotations: others } : {}) } }
  // The same bytes that kubectl would write.
  const text = `${goJson(sortKeys(said))}\n`
  if (annotations[lastAppliedAnnotation] === text) return result
  // As in Kubernetes, an annotation that would make the annotations too long is removed.
  const { [lastAppliedAnnotation]: _last, ...kept } = annotations
  const next = { ...annotations, [lastAppliedAnnotation]: text }
  const changed = { ...value.metadata, annotations: areTooLong(next) ? kept : next }
  return { ...result, value: { ...value, metadata: changed } }
}
