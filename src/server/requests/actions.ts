import { builtInType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import { decodeBody } from './body.ts'
import type { ResourceRequest, Result } from './request.ts'
import type { ActionAnswer, ActionContext } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'
import { parseWriteOptions } from '../verbs/options.ts'
import { admitConnection } from '../write/admission.ts'
import { actionRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'

/**
 * Handles a subresource with its own behavior. A posted body passes the stages of a write, with the action as the last
 * one.
 */
export async function runAction(request: ResourceRequest, action: Action, verb: string): Promise<Result> {
  const options = parseWriteOptions(request.query, 'CreateOptions')
  const body =
    action.bodyType && verb === 'create'
      ? await readBody(request, { ...action.kind, type: builtInType(action.bodyType) })
      : undefined
  if (action.connectOptions) await admitConnection(request, action.connectOptions(request.query))
  return act(request, body, options.dryRun, async (ctx) => resultOf(await action.run(ctx)))
}

/** Handles a virtual kind, which is answered and never stored. */
export async function runVirtual(request: ResourceRequest): Promise<Result> {
  const { resource } = request.target
  const virtual = resource.virtual!
  const isPosted = virtual.bodyType !== undefined
  const options = isPosted ? parseWriteOptions(request.query, 'CreateOptions') : { dryRun: false }
  const { group, version, kind } = resource
  const body = isPosted
    ? await readBody(request, { group, version, kind, type: builtInType(virtual.bodyType!) })
    : undefined
  return act(request, body, options.dryRun, async (ctx) => resultOf(await virtual.answer(ctx)))
}

function readBody(request: ResourceRequest, expected: Parameters<typeof decodeBody>[1]): Promise<KubeObject> {
  const { fieldValidation } = parseWriteOptions(request.query, 'CreateOptions')
  return decodeBody(request.body, expected, request.server.registry, fieldValidation, request.warnings)
}

/** Runs the action. A request without a body only reads and passes no stages. */
async function act(
  request: ResourceRequest,
  body: KubeObject | undefined,
  dryRun: boolean,
  run: (ctx: ActionContext) => Promise<Result>,
): Promise<Result> {
  const context = contextOf(request, body, dryRun)
  if (!body) return run(context)
  let result: Result | undefined
  const action = async () => void (result = await run(context))
  await write(request, { operation: 'CREATE', next: () => body, rules: actionRules, action, dryRun })
  return result!
}

function contextOf(request: ResourceRequest, body: KubeObject | undefined, dryRun: boolean): ActionContext {
  const { server, target, subresource, namespace, name, query, user, rules, warnings, signal } = request
  return {
    resource: target.resource,
    subresource,
    namespace,
    name,
    query,
    body,
    user,
    dryRun,
    objects: server.access,
    rules,
    warnings,
    signal,
  }
}

/** Converts the response into a handler's result. */
function resultOf(answer: ActionAnswer): Result {
  if ('text' in answer) return { kind: 'text', ...answer }
  return 'relay' in answer
    ? { kind: 'relay', place: answer.relay }
    : { kind: 'value', code: answer.code, value: answer.object, ...(answer.table ? { resource: answer.table } : {}) }
}
