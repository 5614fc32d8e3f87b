import { invalidObject, notFound } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { Scale } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { type FieldError, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { decodeBody } from '../body.ts'
import type { ResourceRequest, Result } from '../request.ts'
import { checkName, checkNamespace } from './identity.ts'
import { parseWriteOptions } from './options.ts'
import { readPatch } from './patch.ts'
import { replaceObject } from './update.ts'
import { groupResource } from './write.ts'

const expectedScale = { group: 'autoscaling', version: 'v1', kind: 'Scale', type: 'Scale' }

/** The Scale of an object: what autoscalers and `kubectl scale` see of every kind alike. */
function scaleOf(request: ResourceRequest, object: KubeObject): Scale {
  const mapping = request.target.resource.scale!
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = mapping.selector(object)
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: mapping.specReplicas(object) || undefined },
    status: { replicas: mapping.statusReplicas(object), ...(selector ? { selector } : {}) },
  }
}

const answer = (request: ResourceRequest, object: KubeObject): Result => ({ kind: 'value', code: 200, value: scaleOf(request, object) })

/** GET of a scale. */
export function getScale(request: ResourceRequest): Result {
  const { server, target, namespace, name } = request
  const stored = server.objects.get(target, namespace, name)
  if (!stored) throw notFound(groupResource(target), name)
  return answer(request, stored.object)
}

/** PUT or PATCH of a scale: changes the number of replicas and nothing else. */
export async function writeScale(request: ResourceRequest, how: 'update' | 'patch'): Promise<Result> {
  const { target } = request
  const change = how === 'patch' ? readPatch(request) : await readScale(request)
  const asScaled = (current: KubeObject): KubeObject => {
    const scale = change.apply(scaleOf(request, current) as unknown as KubeObject, expectedScale) as unknown as Scale
    throwIfBad(request, scale)
    const next = cloneObject(current)
    next.metadata.resourceVersion = scale.metadata.resourceVersion
    if (scale.metadata.uid) next.metadata.uid = scale.metadata.uid
    target.resource.scale!.setReplicas(next, scale.spec?.replicas ?? 0)
    return next
  }
  const main = { ...request, subresource: '', retriesConflicts: how === 'patch' }
  const outcome = await replaceObject(main, asScaled, change.options.dryRun)
  return answer(request, outcome.stored.object)
}

async function readScale(request: ResourceRequest) {
  const options = parseWriteOptions(request.query, 'UpdateOptions')
  const scale = await decodeBody(request.body, expectedScale, request.server.registry, options.fieldValidation, request.warnings)
  checkName(scale, request.name)
  checkNamespace(request.target, scale, request.namespace)
  return { options, apply: () => cloneObject(scale) }
}

function throwIfBad(request: ResourceRequest, scale: Scale): void {
  const errors: FieldError[] = []
  const replicas = scale.spec?.replicas ?? 0
  if (replicas < 0) errors.push(invalid(Path.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
  if (errors.length) throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? request.name, errors)
}
