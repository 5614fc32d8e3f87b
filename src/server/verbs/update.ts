import { cloneObject } from '../../api/json/index.ts'
import { nextTurn } from '../../base/turns.ts'
import { decodeBody } from '../requests/body.ts'
import { longBody } from '../requests/crowded-body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { updateRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import { checkName, checkNamespace } from './identity.ts'
import { parseWriteOptions } from './options.ts'

/** PUT of a whole object, or of the part of it that a subresource stands for. */
export async function update(request: ResourceRequest): Promise<Result> {
  const { server, target, name, namespace, subresource } = request
  const options = parseWriteOptions(request.query, 'UpdateOptions')
  const { group, version, kind } = target.resource
  const decoded = await decodeBody(request.body, { group, version, kind, type: target.type }, server.registry, options.fieldValidation, request.warnings)
  if (request.body.bytes.length > longBody) await nextTurn()
  checkName(decoded, name)
  checkNamespace(target, decoded, namespace)
  // With a version to replace, there is only one try; what may be created meanwhile is tried twice.
  const { resourceVersion } = decoded.metadata
  const isOneTry = !target.resource.allowCreateOnUpdate && resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0'
  const next = isOneTry ? () => decoded : () => cloneObject(decoded)
  const change = { operation: 'UPDATE' as const, next, rules: updateRules(target, subresource), dryRun: options.dryRun }
  const { stored, isCreated } = await inOneTurn(request.body, 'write', () => write(request, change))
  return { kind: 'stored', code: isCreated ? 201 : 200, target, stored }
}
