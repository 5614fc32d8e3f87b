import { cloneObject } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest, GroupVersionKind } from '../admission.ts'
import { convert } from './convert.ts'
import { admissionNamespace } from './request-matcher.ts'

export interface GroupVersionResource {
  group: string
  version: string
  resource: string
}

/** The request of an AdmissionReview but for its uid and the objects: CEL's `request` has exactly these fields. */
export interface AdmissionAttributes {
  kind: GroupVersionKind
  resource: GroupVersionResource
  subResource?: string
  requestKind: GroupVersionKind
  requestResource: GroupVersionResource
  requestSubResource?: string
  /** Absent while it is not generated yet. */
  name?: string
  namespace?: string
  operation: string
  userInfo: { username?: string; uid?: string; groups?: readonly string[]; extra?: Record<string, string[]> }
  dryRun: boolean
  options?: Record<string, unknown>
}

const resourceOf = ({ resource: { group, version, plural } }: Registered): GroupVersionResource => ({ group, version, resource: plural })
const kindOf = ({ resource: { group, version, kind } }: Registered): GroupVersionKind => ({ group, version, kind })

/**
 * A request as webhooks and policies see it: in the version of the kind that their rules name. Conversions are kept for the hooks that follow, until
 * one of them changes the object. Reading and replacing objects throws a PendingAnswer where a webhook has to convert them: see `whenDecided`.
 */
export class VersionedRequest {
  readonly request: AdmissionRequest
  readonly #objects = new Map<Registered, KubeObject>()
  readonly #old = new Map<Registered, KubeObject>()

  constructor(request: AdmissionRequest) {
    this.request = request
  }

  /** A Scale, an Eviction and the like have one version, whatever their resource has. */
  get isOwnKind(): boolean {
    const { kind, target } = this.request.origin!
    return kind.kind === target.resource.kind && kind.group === target.resource.group
  }

  /** The new object, which must not be changed; undefined for a DELETE. */
  object(as: Registered): KubeObject | undefined {
    const { object } = this.request
    return object && this.#view(object, this.#objects, as)
  }

  /** The stored object; undefined for a CREATE. */
  old(as: Registered): KubeObject | undefined {
    const { old } = this.request
    return old && this.#view(old, this.#old, as)
  }

  #view(object: KubeObject, known: Map<Registered, KubeObject>, as: Registered): KubeObject {
    let view = known.get(as)
    if (!view) known.set(as, (view = this.#withType(this.isOwnKind ? convert(object, this.request.origin!.target, as, this.request.origin!) : object, as)))
    return view
  }

  /** Objects that the server makes itself may lack their type. */
  #withType(object: KubeObject, as: Registered): KubeObject {
    if (object.apiVersion !== undefined && object.kind !== undefined) return object
    const { group, version, kind } = this.isOwnKind ? kindOf(as) : this.request.origin!.kind
    return { ...object, apiVersion: group ? `${group}/${version}` : version, kind }
  }

  /** Puts a changed object of the given version in the place of the request's. */
  replace(object: KubeObject, as: Registered): void {
    const { request } = this
    const { target } = request.origin!
    const isSame = as === target || !this.isOwnKind
    request.object = isSame ? object : cloneObject(convert(object, as, target, request.origin!))
    this.#objects.clear()
  }

  /** The facts of the request for a hook whose rule names this version. */
  attributes(as: Registered): AdmissionAttributes {
    const { request } = this
    const { kind, target, options } = request.origin!
    const { subresource, user, name, operation, dryRun } = request
    const namespace = admissionNamespace(request)
    const optionsSent = options.call(request.origin)
    return {
      kind: this.isOwnKind ? kindOf(as) : kind,
      resource: resourceOf(as),
      ...(subresource ? { subResource: subresource } : {}),
      requestKind: kind,
      requestResource: resourceOf(target),
      ...(subresource ? { requestSubResource: subresource } : {}),
      ...(name ? { name } : {}),
      ...(namespace ? { namespace } : {}),
      operation,
      userInfo: {
        username: user.name,
        ...(user.uid ? { uid: user.uid } : {}),
        ...(user.groups.length ? { groups: user.groups } : {}),
        ...(user.extra && Object.keys(user.extra).length ? { extra: user.extra } : {}),
      },
      dryRun,
      ...(optionsSent ? { options: optionsSent } : {}),
    }
  }
}
