import { cloneObject } from '../../api/json/index.ts'
import { decodeBody } from '../requests/body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { updateRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import { checkName, checkNamespace } from '../write/names.ts'
import { parseWriteOptions } from './options.ts'

/** PUT of an object or of a partial-update subresource. */
export async function update(request: ResourceRequest): Promise<Result> {
  const { server, target, name, namespace, subresource } = request
  const options = parseWriteOptions(request.query, 'UpdateOptions')
  const { group, version, kind } = target.resource
  const decoded = await decodeBody(
    request.body,
    { group, version, kind, type: target.type },
    server.registry,
    options.fieldValidation,
    request.warnings,
  )
  if (request.body.giveWay) await request.body.giveWay()
  checkName(decoded, name)
  checkNamespace(target, decoded, namespace)
  // An update with a resourceVersion is tried only once. One without may be retried, so it needs a copy.
  const { resourceVersion } = decoded.metadata
  const isOneTry =
    !target.resource.allowCreateOnUpdate &&
    resourceVersion !== undefined &&
    resourceVersion !== '' &&
    resourceVersion !== '0'
  const next = isOneTry ? () => decoded : () => cloneObject(decoded)
  const change = { operation: 'UPDATE' as const, next, rules: updateRules(target, subresource), dryRun: options.dryRun }
  const { stored, isCreated } = await inOneTurn(request.body, 'write', () => write(request, change))
  return { kind: 'stored', code: isCreated ? 201 : 200, target, stored }
}
