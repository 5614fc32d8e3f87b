import { FeatureGates, type GateName } from '../../../api/feature-gates.ts'
import { cloneObject } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import type { Resource, RuleContext } from '../../registry/resource.ts'

/** What tests say instead of whole objects. */
export type Draft = Record<string, unknown> & { metadata?: Record<string, unknown> }

const said = (errors: readonly FieldError[]) => errors.map((e) => `${e.field}: ${e.message}`)

/** Takes objects through a resource's rules in the order of the server, without the server. For tests. */
export class ResourceTrial {
  readonly #resource: Resource
  readonly #ctx: RuleContext

  constructor(resource: Resource, gates: Partial<Record<GateName, boolean>> = {}, now = 0) {
    this.#resource = resource
    this.#ctx = { gates: FeatureGates.of(gates), now, user: { name: 'ann', uid: '7', groups: ['crew'], extra: {} } }
  }

  /** The object as it would be stored; `any`, so that tests can look into it. */
  created(draft: Draft): any {
    const obj = cloneObject({ ...draft, metadata: { name: 'x', namespace: 'ns', uid: 'u', generation: 1, ...draft.metadata } }) as KubeObject
    this.#resource.defaults?.(obj, this.#ctx)
    this.#resource.prepareForCreate?.(obj, this.#ctx)
    return obj
  }

  /** What is wrong with a new object. */
  refusals(draft: Draft): string[] {
    return said(this.#resource.validate(this.created(draft), this.#ctx))
  }

  updated(old: any, next: Draft): any {
    const obj = cloneObject({ ...next, metadata: { ...old.metadata, ...next.metadata } }) as KubeObject & { status?: unknown }
    this.#resource.defaults?.(obj, this.#ctx)
    if (this.#resource.status) obj.status = old.status
    this.#resource.prepareForUpdate?.(obj, old, this.#ctx)
    return obj
  }

  /** What is wrong with a change of an object. */
  updateRefusals(old: unknown, next: Draft): string[] {
    return said(this.#resource.validateUpdate(this.updated(old, next), old as KubeObject, this.#ctx))
  }

  /** What is wrong with a new status. */
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
    return Object.fromEntries(this.#resource.columns!.map((column) => [column.name, column.cell(obj as KubeObject, this.#ctx.now)]))
  }
}
