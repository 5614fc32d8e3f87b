import type { Json } from '../../api/object.ts'
import { decodeObject } from '../../api/schema/index.ts'
import type { Resource } from '../registry/resource.ts'
import { type Draft, ResourceTrial } from './apps/resource-trial.ts'

/** As ResourceTrial, for drafts that leave out what decoding writes: the empty structures that an object always has. For tests. */
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
