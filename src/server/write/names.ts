import type { KubeObject } from '../../api/object.ts'
import { type GroupKind, type GroupResource, badRequest } from '../../api/errors.ts'
import type { Registered } from '../registry/registry.ts'

/** The resource that errors about its objects name. */
export const groupResource = ({ resource }: Registered): GroupResource => ({
  group: resource.group,
  resource: resource.plural,
})

/** The kind that validation errors name. For both event APIs it is the core one. */
export const groupKind = ({ storage: { resource } }: Registered): GroupKind => ({
  group: resource.group,
  kind: resource.kind,
})

/** The object's namespace must be empty or match the path. */
export function checkNamespace(target: Registered, object: KubeObject, namespace: string): void {
  if (!target.resource.namespaced) {
    delete object.metadata.namespace
    return
  }
  object.metadata.namespace ||= namespace
  if (object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** The object must have the name of the path. */
export function checkName(object: KubeObject, name: string): void {
  const said = object.metadata.name
  if (!said) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (said !== name) throw badRequest(`the name of the object (${said}) does not match the name on the URL (${name})`)
}
