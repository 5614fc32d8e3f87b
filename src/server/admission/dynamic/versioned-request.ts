import { cloneObject } from '../../../api/json/index.ts'
import { withManagedFields } from '../../../api/managed-fields/index.ts'
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

/** The request of an AdmissionReview without uid and objects. CEL's `request` has exactly these fields. */
export interface AdmissionAttributes {
  kind: GroupVersionKind
  resource: GroupVersionResource
  subResource?: string
  requestKind: GroupVersionKind
  requestResource: GroupVersionResource
  requestSubResource?: string
  /** Absent until it is generated. */
  name?: string
  namespace?: string
  operation: string
  userInfo: { username?: string; uid?: string; groups?: readonly string[]; extra?: Record<string, string[]> }
  dryRun: boolean
  options?: Record<string, unknown>
}

const resourceOf = ({ resource: { group, version, plural } }: Registered): GroupVersionResource => ({
  group,
  version,
  resource: plural,
})
const kindOf = ({ resource: { group, version, kind } }: Registered): GroupVersionKind => ({ group, version, kind })

/**
 * A request in the version that a hook's rules name. Conversions are kept for later hooks until one of them changes the
 * object. Reading and replacing objects throws a PendingAnswer if a webhook must convert them: see `whenDecided`.
 */
export class VersionedRequest {
  readonly request: AdmissionRequest
  readonly #objects = new Map<Registered, KubeObject>()
  readonly #old = new Map<Registered, KubeObject>()

  constructor(request: AdmissionRequest) {
    this.request = request
  }

  /** True for subresource kinds such as Scale and Eviction, which have one version regardless of their resource's. */
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

  /** The new object with managedFields, for webhooks. */
  reviewed(as: Registered): KubeObject | undefined {
    const object = this.object(as)
    return object && withManagedFields(object, this.request.owners?.object ?? [])
  }

  /** The stored object with managedFields, for webhooks. */
  reviewedOld(as: Registered): KubeObject | undefined {
    const old = this.old(as)
    return old && withManagedFields(old, this.request.owners?.old ?? [])
  }

  #view(object: KubeObject, known: Map<Registered, KubeObject>, as: Registered): KubeObject {
    let view = known.get(as)
    if (!view)
      known.set(
        as,
        (view = this.#withType(
          this.isOwnKind ? convert(object, this.request.origin!.target, as, this.request.origin!) : object,
          as,
        )),
      )
    return view
  }

  /** Objects that the server creates itself may lack apiVersion and kind. */
  #withType(object: KubeObject, as: Registered): KubeObject {
    if (object.apiVersion !== undefined && object.kind !== undefined) return object
    const { group, version, kind } = this.isOwnKind ? kindOf(as) : this.request.origin!.kind
    return { ...object, apiVersion: group ? `${group}/${version}` : version, kind }
  }

  /** Replaces the request's object by a changed one of the given version. */
  replace(object: KubeObject, as: Registered): void {
    const { request } = this
    const { target } = request.origin!
    const isSame = as === target || !this.isOwnKind
    request.object = isSame ? object : cloneObject(convert(object, as, target, request.origin!))
    this.#objects.clear()
  }

  /** The attributes of the request for a hook whose rule names this version. */
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
