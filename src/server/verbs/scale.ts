import { invalidObject, notFound } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { Scale } from '../../api/generated/types.ts'
import { builtInType } from '../../api/object-type.ts'
import { merge } from '../../api/managed-fields/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { type FieldError, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { decodeBody, decodeValue } from '../requests/body.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { applied, isApply, readConfiguration } from './apply.ts'
import { checkName, checkNamespace, groupResource } from '../write/names.ts'
import { parseWriteOptions } from './options.ts'
import { readPatch } from './patch.ts'
import { presented } from './shown.ts'
import { ownedWrite } from '../write/ownership.ts'
import { mainRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'
import type { Facade } from '../write/write.ts'

const expectedScale = { group: 'autoscaling', version: 'v1', kind: 'Scale', type: builtInType('Scale') }

/** The Scale of an object, for autoscalers and `kubectl scale`. */
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

const answer = (request: ResourceRequest, object: KubeObject): Result => ({
  kind: 'value',
  code: 200,
  value: scaleOf(request, object),
})

/** GET of a scale. */
export function getScale(request: ResourceRequest): Result | Promise<Result> {
  const { server, target, namespace, name } = request
  const stored = server.objects.get(target, namespace, name)
  if (!stored) throw notFound(groupResource(target), name)
  const show = (object: KubeObject) => {
    target.resource.scale!.checkRead?.(object)
    return answer(request, object)
  }
  const object = presented(target, stored)
  return object instanceof Promise ? object.then(show) : show(object)
}

/** The Scale as a facade of its object: it changes only the replica count. */
const scaleFacade = (request: ResourceRequest): Facade => ({
  of: (object) => scaleOf(request, object) as unknown as KubeObject,
  put(behind, sent) {
    const scale = sent as unknown as Scale
    const next = cloneObject(behind)
    next.metadata.resourceVersion = scale.metadata.resourceVersion
    request.target.resource.scale!.setReplicas(next, scale.spec?.replicas ?? 0)
    return next
  },
})

/** PUT or PATCH of a scale. */
export async function writeScale(request: ResourceRequest, how: 'update' | 'patch'): Promise<Result> {
  if (how === 'patch' && isApply(request)) return applyScale(request)
  const change = how === 'patch' ? readPatch(request) : await readScale(request)
  const { stored } = await write(request, {
    operation: 'UPDATE',
    next(current) {
      const checked = (scale: KubeObject) => {
        throwIfBad(request, scale as unknown as Scale)
        return scale
      }
      const scale = change.apply(current!, expectedScale)
      return scale instanceof Promise ? scale.then(checked) : checked(scale)
    },
    rules: { ...mainRules(request.target), createsMissing: false },
    facade: scaleFacade(request),
    isRelative: how === 'patch',
    dryRun: change.options.dryRun,
  })
  return answer(request, await presented(request.target, stored))
}

/** Server-side apply of a scale. The owned field is the one in the object behind. */
async function applyScale(request: ResourceRequest): Promise<Result> {
  const options = parseWriteOptions(request.query, 'apply')
  const config = await readConfiguration(request, expectedScale, options)
  const about = ownedWrite(request, 'Apply')
  const { replicas } = (config.spec ?? {}) as { replicas?: Json }
  const behind = scaledBy(request, replicas)
  const { stored } = await write(request, {
    operation: 'UPDATE',
    next(current) {
      const scale = decodeValue(
        { value: merge(expectedScale.type.mergeType!, current, config) as Json, duplicates: [], text: undefined },
        expectedScale,
        'Ignore',
        request.warnings,
      )
      checkName(scale, request.name)
      checkNamespace(request.target, scale, request.namespace)
      throwIfBad(request, scale as unknown as Scale)
      return scale
    },
    // As in Kubernetes, managers of the replicas are shown in the version of the Scale.
    owners: ({ old, stored }) => applied(about, stored!.owners, old, behind, options, 'autoscaling/v1').owners,
    rules: { ...mainRules(request.target), createsMissing: false },
    facade: scaleFacade(request),
    isRelative: true,
    dryRun: options.dryRun,
  })
  return answer(request, await presented(request.target, stored))
}

/** A configuration of the object behind that contains only its replicas. */
function scaledBy(
  { target }: ResourceRequest,
  replicas: Json | undefined,
): { apiVersion: string; spec?: { [field: string]: Json } } {
  const { apiVersion, resource } = target
  if (typeof replicas !== 'number') return { apiVersion }
  const behind = { apiVersion, spec: {} }
  resource.scale!.setReplicas(behind as unknown as KubeObject, replicas)
  return behind
}

async function readScale(request: ResourceRequest) {
  const options = parseWriteOptions(request.query, 'UpdateOptions')
  const scale = await decodeBody(
    request.body,
    expectedScale,
    request.server.registry,
    options.fieldValidation,
    request.warnings,
  )
  checkName(scale, request.name)
  checkNamespace(request.target, scale, request.namespace)
  return { options, apply: () => cloneObject(scale) }
}

function throwIfBad(request: ResourceRequest, scale: Scale): void {
  const errors: FieldError[] = []
  const replicas = scale.spec?.replicas ?? 0
  const { negative } = request.target.resource.scale!
  if (replicas < 0 && negative) {
    const { group, kind } = request.target.resource
    throw invalidObject({ group, kind }, request.name, [invalid(Path.of(negative.path), replicas, negative.saying)])
  }
  if (replicas < 0) errors.push(invalid(Path.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
  if (errors.length)
    throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? request.name, errors)
}
