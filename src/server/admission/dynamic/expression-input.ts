import {
  type Value,
  admissionNamespaceType,
  admissionRequestType,
  authorizerValue,
  resourceCheckValue,
  toValue,
  untyped,
} from '../../../api/cel/index.ts'
import { notFound } from '../../../api/errors.ts'
import type { Namespace } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import { RequestAuthorizer } from './request-authorizer.ts'
import { admissionNamespace } from './request-matcher.ts'
import { VersionedRequest } from './versioned-request.ts'

/** The namespaceObject of a request; undefined for cluster-scoped resources, Namespaces included. */
export function namespaceOf(request: AdmissionRequest): Namespace | undefined {
  if (!request.resource.namespaced) return undefined
  const name = admissionNamespace(request)
  const found = request.reader.get<Namespace>('', 'namespaces', '', name)
  if (!found) throw notFound({ group: '', resource: 'namespaces' }, name)
  return found
}

/** The CEL variables of match conditions and policies for one request, each created on first use. */
export class ExpressionInput {
  readonly versioned: VersionedRequest
  readonly #authorizer: RequestAuthorizer

  constructor(versioned: VersionedRequest, authorizer = new RequestAuthorizer(versioned.request)) {
    this.versioned = versioned
    this.#authorizer = authorizer
  }

  /** Returns an input with a copy of the request, whose object can be replaced without changing the request. */
  draft(): ExpressionInput {
    return new ExpressionInput(new VersionedRequest({ ...this.versioned.request }), this.#authorizer)
  }

  /** The variables for a hook whose rule names this version. `params` is undefined for a hook without parameters. */
  of(as: Registered, params?: KubeObject | null, namespace?: Namespace): Record<string, Value | undefined> {
    const { versioned } = this
    return {
      object: untyped(versioned.object(as)),
      oldObject: untyped(versioned.old(as)),
      request: toValue(admissionRequestType, versioned.attributes(as)),
      namespaceObject: namespace ? toValue(admissionNamespaceType, namespace) : null,
      ...(params === undefined ? {} : { params: untyped(params) }),
    }
  }

  /** The authorizer variables, for expressions that may use them. */
  authorizer(): Record<string, Value> {
    const { request } = this.versioned
    const { resource, subresource, name } = request
    const namespace = admissionNamespace(request)
    const { authorize } = this.#authorizer
    const question = {
      group: resource.group,
      resource: resource.plural,
      ...(subresource ? { subresource } : {}),
      ...(namespace ? { namespace } : {}),
      ...(name ? { name } : {}),
    }
    return {
      authorizer: authorizerValue(authorize),
      'authorizer.requestResource': resourceCheckValue(authorize, question),
    }
  }
}
