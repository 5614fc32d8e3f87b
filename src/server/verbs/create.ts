import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { decodeBody } from '../requests/body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import { mainRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import { parseWriteOptions } from './options.ts'

/** POST of a new object. */
export async function create(request: ResourceRequest): Promise<Result> {
  const { server, target } = request
  const options = parseWriteOptions(request.query, 'CreateOptions')
  const { group, version, kind } = target.resource
  const decoded = await decodeBody(
    request.body,
    { group, version, kind, type: target.type },
    server.registry,
    options.fieldValidation,
    request.warnings,
  )
  if (request.body.giveWay) await request.body.giveWay()
  return { kind: 'stored', code: 201, target, stored: await createObject(request, decoded, options.dryRun) }
}

/** Stores a decoded object, of which the caller gives up ownership. */
export async function createObject(
  request: ResourceRequest,
  object: KubeObject,
  dryRun: boolean,
): Promise<StoredObject> {
  // Only a generated name is retried, which needs a copy each time.
  const next = object.metadata.name ? () => object : () => cloneObject(object)
  return (
    await inOneTurn(request.body, 'write', () =>
      write(request, { operation: 'CREATE', next, rules: mainRules(request.target), dryRun }),
    )
  ).stored
}
