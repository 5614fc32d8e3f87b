import { type GateName, FeatureGates } from '../../api/feature-gates.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject, Json } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { Resource, RuleContext } from '../registry/resource.ts'
import { decodeObject } from '../../api/schema/index.ts'

/** A partial object in tests. */
export type Draft = Record<string, unknown> & { metadata?: Record<string, unknown> }

const said = (errors: readonly FieldError[]) => errors.map((e) => `${e.field}: ${e.message}`)

/** Runs a resource's rules on objects in the server's order, without a server. For tests. */
export class ResourceTrial {
  readonly #resource: Resource
  readonly #ctx: RuleContext

  constructor(resource: Resource, gates: Partial<Record<GateName, boolean>> = {}, now = 0) {
    this.#resource = resource
    this.#ctx = { gates: FeatureGates.of(gates), now, user: { name: 'ann', uid: '7', groups: ['crew'], extra: {} } }
  }

  /** Returns the object as it would be stored; `any`, so that tests can read any field. */
  created(draft: Draft): any {
    const obj = cloneObject({
      ...draft,
      metadata: { name: 'x', namespace: 'ns', uid: 'u', generation: 1, ...draft.metadata },
    }) as KubeObject
    this.#resource.defaults?.(obj, this.#ctx)
    this.#resource.prepareForCreate?.(obj, this.#ctx)
    return obj
  }

  /** The validation errors of a new object. */
  refusals(draft: Draft): string[] {
    return said(this.#resource.validate(this.created(draft), this.#ctx))
  }

  updated(old: any, next: Draft): any {
    const obj = cloneObject({ ...next, metadata: { ...old.metadata, ...next.metadata } }) as KubeObject & {
      status?: unknown
    }
    this.#resource.defaults?.(obj, this.#ctx)
    if (this.#resource.status) obj.status = old.status
    this.#resource.prepareForUpdate?.(obj, old, this.#ctx)
    return obj
  }

  /** The validation errors of an update. */
  updateRefusals(old: unknown, next: Draft): string[] {
    return said(this.#resource.validateUpdate(this.updated(old, next), old as KubeObject, this.#ctx))
  }

  /** The validation errors of a status update. */
  statusRefusals(old: any, status: unknown): string[] {
    const obj = cloneObject({ ...old, status }) as KubeObject
    this.#resource.status!.prepare(obj, old, this.#ctx)
    return said(this.#resource.status!.validate(obj, old, this.#ctx))
  }

  warnings(obj: unknown, old?: unknown): string[] {
    return this.#resource.warnings?.(obj as KubeObject, old as KubeObject | undefined, this.#ctx) ?? []
  }

  /** The row of `kubectl get -o wide`, by column. */
  cells(obj: unknown): Record<string, unknown> {
    return Object.fromEntries(
      this.#resource.columns!.map((column) => [column.name, column.cell(obj as KubeObject, this.#ctx.now)]),
    )
  }
}

/** As ResourceTrial, for drafts without the empty structures that decoding creates. For tests. */
export class DecodedTrial extends ResourceTrial {
  readonly #type: string

  constructor(resource: Resource, now = 0) {
    super(resource, {}, now)
    this.#type = resource.type ?? resource.kind
  }

  #decode(draft: Draft): Draft {
    return decodeObject(this.#type, draft as Json).object as unknown as Draft
  }

  override created(draft: Draft): any {
    return super.created(this.#decode(draft))
  }

  override updated(old: any, next: Draft): any {
    return super.updated(old, this.#decode(next))
  }
}
