import { badRequest } from '../../api/errors.ts'
import { builtInType } from '../../api/object-type.ts'
import { DecodeError } from '../../api/schema/index.ts'
import { type FieldError, invalid, notSupported } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { parseBody } from '../requests/body.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { RequestBody, ResourceRequest, Result } from '../requests/request.ts'
import { type WriteRules, mainRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import type { Outcome } from '../write/write.ts'
import { checkDryRun, invalidOptions, queryBoolean, queryInteger } from './options.ts'

const deleteOptions = builtInType('DeleteOptions')
const policies = ['Foreground', 'Background', 'Orphan']

/** DELETE of one object. */
export async function deleteOne(request: ResourceRequest): Promise<Result> {
  const { target, name } = request
  const options = await readDeleteOptions(request)
  const outcome = await deleteObject(request, options)
  if (target.resource.deleteAnswersObject || !outcome.isRemoved)
    return { kind: 'stored', code: 200, target, stored: outcome.stored }
  const { group, plural } = target.resource
  const value = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group ? { group } : {}), kind: plural, uid: outcome.stored.object.metadata.uid },
  }
  return { kind: 'value', code: 200, value }
}

/** Deletes an object, or marks it as deleted if finalizers or a grace period require that. */
export function deleteObject(
  request: ResourceRequest,
  deletion: DeleteOptions,
  rules: WriteRules = mainRules(request.target),
): Promise<Outcome> {
  return write(request, {
    operation: 'DELETE',
    deletion,
    rules,
    dryRun: Boolean(deletion.dryRun?.length),
  })
}

const optionNames = ['gracePeriodSeconds', 'propagationPolicy', 'orphanDependents', 'dryRun']

/** Reads the options from the body or, without one, from the query. */
export async function readDeleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const { body, query } = request
  const options = body.bytes.length > 0 ? await decodeOptions(body) : fromQuery(query)
  if (body.bytes.length > 0 && query.has('dryRun') && !options.dryRun?.length) options.dryRun = query.getAll('dryRun')
  const errors: FieldError[] = []
  const path = Path.of('propagationPolicy')
  const { propagationPolicy: policy, orphanDependents } = options
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.push(invalid(path, policy, 'orphanDependents and deletionPropagation cannot be both set'))
  } else if (policy !== undefined && !policies.includes(policy)) {
    errors.push({
      ...notSupported(path, policy, []),
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    })
  }
  errors.push(...checkDryRun(options.dryRun ?? []))
  if (errors.length) throw invalidOptions('DeleteOptions', errors)
  const { defaultPropagationWarning } = request.target.resource
  if (defaultPropagationWarning && policy === undefined && orphanDependents === undefined)
    request.warnings.push(defaultPropagationWarning)
  return options
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  if (!optionNames.some((n) => query.has(n))) return {}
  return {
    gracePeriodSeconds: queryInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: query.has('orphanDependents') ? queryBoolean(query, 'orphanDependents') : undefined,
    dryRun: query.getAll('dryRun'),
  }
}

async function decodeOptions(body: RequestBody): Promise<DeleteOptions> {
  const parsed = await parseBody(body, deleteOptions, (problem) => problem)
  const { kind, apiVersion } = (parsed.value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    const scheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(scheme)}`,
    )
  }
  try {
    return deleteOptions.decode(parsed.value, { text: parsed.text }).object as DeleteOptions
  } catch (e) {
    if (e instanceof DecodeError) throw badRequest(e.message)
    throw e
  }
}
