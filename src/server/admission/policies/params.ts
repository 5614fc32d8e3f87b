import type { ParamKind, ParamRef } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { labelSelectorMatches } from '../../../api/selectors/label-selector.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Registered, Registry } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import { admissionNamespace, presentAs } from '../dynamic/index.ts'

/** A policy or binding that cannot be evaluated, in Kubernetes' words. The failure policy decides. */
export class ConfigurationError extends Error {}

/** Runs `use`. On a ConfigurationError it calls `misconfigured` and returns false. */
export function* isConfigured(use: () => Steps<unknown>, misconfigured: (why: string) => void): Steps<boolean> {
  try {
    yield* use()
    return true
  } catch (e) {
    if (!(e instanceof ConfigurationError)) throw e
    misconfigured(e.message)
    return false
  }
}

/** Formats a kind as Go does: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
export const kindText = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`

/** Resolves the kind of a policy's parameters. */
export function paramTarget({ apiVersion = '', kind = '' }: ParamKind, registry: Registry): Registered {
  const found = registry
    .all()
    .find((r) => r.apiVersion === apiVersion && r.resource.kind === kind && !r.resource.virtual)
  if (found) return found
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${kindText(apiVersion, kind)}'`)
}

/**
 * The parameter objects of a binding, with which the policy is evaluated one by one; [null] for a policy without
 * parameters.
 */
export function collectParams(
  kind: ParamKind | undefined,
  ref: ParamRef | undefined,
  request: AdmissionRequest,
): (KubeObject | null)[] {
  if (!kind || !ref) return [null]
  const target = paramTarget(kind, request.origin!.registry)
  const found = findParams(target, ref, request)
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return found.map((object) => presentAs(object, target, request.origin!))
}

function findParams({ resource, storage }: Registered, ref: ParamRef, request: AdmissionRequest): KubeObject[] {
  if (ref.namespace && !resource.namespaced) {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const namespace = resource.namespaced ? ref.namespace || admissionNamespace(request) : ''
  if (resource.namespaced && namespace === '') {
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  }
  const { group, plural } = storage.resource
  if (!ref.name) {
    return request.reader
      .list(group, plural, namespace)
      .filter(({ metadata }) => labelSelectorMatches(ref.selector, metadata.labels))
  }
  const found = request.reader.get(group, plural, namespace, ref.name)
  return found ? [found] : []
}
