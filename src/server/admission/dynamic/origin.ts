import { type ObjectType, builtInType } from '../../../api/object-type.ts'
import type { DeleteOptions } from '../../objects/objects.ts'
import type { Authorizer } from '../../auth/authorize.ts'
import type { Registered, Registry } from '../../registry/registry.ts'
import type { RuleContext } from '../../registry/resource.ts'
import type { ResourceRequest } from '../../requests/request.ts'
import type { AdmissionOperation, AdmissionOrigin, GroupVersionKind } from '../admission.ts'

const scale: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** The kind of the body for a resource or subresource. */
function kindOf({ resource, actions }: Registered, subresource: string): GroupVersionKind {
  const action = actions.get(subresource)
  const { group, version, kind } = action ? action.kind : subresource === 'scale' ? scale : resource
  return { group, version, kind }
}

const optionsKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

/** The origin of a request from a client or the server itself. */
export class RequestOrigin implements AdmissionOrigin {
  readonly #request: ResourceRequest
  readonly #operation: AdmissionOperation
  readonly #deletion: DeleteOptions | undefined

  constructor(request: ResourceRequest, operation: AdmissionOperation, deletion?: DeleteOptions) {
    this.#request = request
    this.#operation = operation
    this.#deletion = deletion
  }

  get target(): Registered {
    return this.#request.target
  }

  get registry(): Registry {
    return this.#request.server.registry
  }

  get authorizer(): Authorizer {
    return this.#request.server.authorizer
  }

  get kind(): GroupVersionKind {
    return kindOf(this.#request.target, this.#request.subresource)
  }

  get type(): ObjectType | undefined {
    const { target, subresource } = this.#request
    const action = target.actions.get(subresource)
    if (action) return action.bodyType === undefined ? undefined : builtInType(action.bodyType)
    return subresource === 'scale' ? builtInType('Scale') : target.type
  }

  get rules(): RuleContext {
    return this.#request.rules
  }

  options(): Record<string, unknown> | undefined {
    if (this.#operation === 'CONNECT') return undefined
    const type = { apiVersion: 'meta.k8s.io/v1', kind: optionsKinds[this.#operation] }
    if (this.#operation === 'DELETE') return { ...type, ...withoutEmpty(this.#deletion ?? {}) }
    const { query } = this.#request
    const dryRun = query.getAll('dryRun')
    const [fieldManager, fieldValidation] = [query.get('fieldManager'), query.get('fieldValidation')]
    return withoutEmpty({ ...type, dryRun, fieldManager, fieldValidation })
  }
}

function withoutEmpty(options: object): Record<string, unknown> {
  const isSaid = ([, value]: [string, unknown]) =>
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(options).filter(isSaid))
}
